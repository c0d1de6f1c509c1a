"""Verifies our envelope with securesystemslib, reads its statement with in-toto-attestation: FILE THRESHOLD KEYID=PEM...

Prints the run, the verdict and the number of keys; a signature that does not verify, or a statement that is none,
ends it with an error.
"""
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey


def main():
    file, threshold, *keys = sys.argv[1:]
    envelope = Envelope.from_dict(json.loads(Path(file).read_text()))
    trusted = []
    for key in keys:
        keyid, pem = key.split("=", 1)
        trusted.append(SSlibKey.from_crypto(load_pem_public_key(Path(pem).read_bytes()), keyid=keyid))
    accepted = envelope.verify(trusted, int(threshold))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    statement = Statement.copy_from_pb(json_format.Parse(envelope.payload, statement_pb2.Statement()))
    statement.validate()
    predicate = statement.pb.predicate
    print(predicate["run_id"], predicate["verdict"], len(statement.pb.subject), len(accepted))


main()
