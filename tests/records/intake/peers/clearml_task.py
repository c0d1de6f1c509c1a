"""A session of the real ClearML, offline: python clearml_task.py FOLDER; prints its folder."""
import os
import subprocess
import sys

os.environ["CLEARML_CACHE_DIR"] = os.path.join(sys.argv[1], "cache")
os.chdir(sys.argv[1])


def git(*arguments):
    subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *arguments], check=True)


PROGRAM = '''from clearml import Task

Task.set_offline(True)
task = Task.init(project_name="proj/sub", task_name="train mlp", auto_connect_frameworks=False,
                 auto_resource_monitoring=False)
task.set_base_docker(docker_image="reg.example/ml/train:1@sha256:" + "a" * 64,
                     docker_arguments="--ipc=host")
task.connect({"lr": 0.1, "epochs": 3, "deep": {"x": 1}, "flag": True})
task.connect_configuration({"layers": [1, 2]}, name="model")
log = task.get_logger()
for i in range(50):
    log.report_scalar("loss", "train", 1.0 / (i + 1), i)
log.report_scalar("odd", "value", float("nan"), 0)
log.report_single_value("accuracy", 0.75)
with open("weights.txt", "w") as file:
    file.write("weights")
task.upload_artifact("weights", "weights.txt")
task.upload_artifact("table", {"a": 1})
folder = str(task.get_offline_mode_folder())
task.close()
with open("session", "w") as file:
    file.write(folder)
'''

git("init", "-q")
with open("train.py", "w") as file:
    file.write(PROGRAM)
git("add", "train.py")
git("commit", "-q", "-m", "x")
git("remote", "add", "origin", "https://ada:secret@example.org/r.git")
with open("train.py", "a") as file:
    file.write("# not committed\n")
subprocess.run([sys.executable, "train.py"], check=True, stdout=sys.stderr)
print(open("session").read())
