"""S3 as moto has it, with signatures checked: s3_server.py STATE_FILE; it serves until it is killed.

STATE_FILE then holds, as JSON: url, access, secret, first and second (versions of "sets/train x.csv"), parts
(the version of "parts.bin", uploaded in two parts), gone (a version of "gone.csv" that was removed) and marked
(of "marked.csv", which was deleted and whose version is kept).
"""
import json
import os
import sys
import time

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "3"  # those that make a user
os.environ.update(AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION="us-east-1")

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
url = "http://127.0.0.1:%d" % server.get_host_and_port()[1]
iam = boto3.client("iam", endpoint_url=url)
iam.create_user(UserName="ada")
iam.put_user_policy(UserName="ada", PolicyName="all", PolicyDocument=json.dumps(
    {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}))
key = iam.create_access_key(UserName="ada")["AccessKey"]

s3 = boto3.client("s3", endpoint_url=url, aws_access_key_id=key["AccessKeyId"],
                  aws_secret_access_key=key["SecretAccessKey"])
s3.create_bucket(Bucket="data")
s3.put_bucket_versioning(Bucket="data", VersioningConfiguration={"Status": "Enabled"})
state = {"url": url, "access": key["AccessKeyId"], "secret": key["SecretAccessKey"]}
for name, body in (("first", b"one"), ("second", b"two")):
    state[name] = s3.put_object(Bucket="data", Key="sets/train x.csv", Body=body,
                                ChecksumAlgorithm="SHA256")["VersionId"]
state["gone"] = s3.put_object(Bucket="data", Key="gone.csv", Body=b"one")["VersionId"]
s3.delete_object(Bucket="data", Key="gone.csv", VersionId=state["gone"])
state["marked"] = s3.put_object(Bucket="data", Key="marked.csv", Body=b"one")["VersionId"]
s3.delete_object(Bucket="data", Key="marked.csv")
upload = s3.create_multipart_upload(Bucket="data", Key="parts.bin", ChecksumAlgorithm="SHA256")["UploadId"]
parts = []
for number, body in ((1, b"a" * (5 << 20)), (2, b"b")):
    part = s3.upload_part(Bucket="data", Key="parts.bin", UploadId=upload, PartNumber=number, Body=body,
                          ChecksumAlgorithm="SHA256")
    parts.append({"PartNumber": number, "ETag": part["ETag"], "ChecksumSHA256": part["ChecksumSHA256"]})
state["parts"] = s3.complete_multipart_upload(
    Bucket="data", Key="parts.bin", UploadId=upload, MultipartUpload={"Parts": parts})["VersionId"]

with open(sys.argv[1] + ".new", "w") as out:
    json.dump(state, out)
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    time.sleep(1)
