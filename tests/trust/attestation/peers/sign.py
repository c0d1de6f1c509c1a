"""Makes a statement with in-toto-attestation and signs it with securesystemslib: FOLDER

Reads FOLDER/ours.json, a statement; writes theirs-KIND.intoto.jsonl and KIND.pub for new keys of both kinds.
"""
import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from google.protobuf import json_format
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner


def main():
    folder = Path(sys.argv[1])
    ours = json.loads((folder / "ours.json").read_text())
    subjects = [ResourceDescriptor(name=one["name"], digest=one["digest"]).pb for one in ours["subject"]]
    statement = Statement(subjects=subjects, predicate_type=ours["predicateType"], predicate=ours["predicate"])
    statement.validate()
    payload = json_format.MessageToJson(statement.pb).encode()
    for kind, key in (("ed25519", ed25519.Ed25519PrivateKey.generate()),
                      ("p256", ec.generate_private_key(ec.SECP256R1()))):
        envelope = Envelope(payload, "application/vnd.in-toto+json", {})
        envelope.sign(CryptoSigner(key))
        (folder / f"theirs-{kind}.intoto.jsonl").write_text(json.dumps(envelope.to_dict()) + "\n")
        (folder / f"{kind}.pub").write_bytes(key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))


main()
