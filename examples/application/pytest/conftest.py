"""The fixture `server`: the test server with the records of seed.yaml, reset after each test."""

import json
import os
import shlex
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

# Such as "npx pulumi-irm".
COMMAND = shlex.split(os.environ.get("IRM_COMMAND", "pulumi-irm"))
SEED = Path(__file__).parent.parent / "seed.yaml"


class Server:
    def __init__(self, ready):
        self.base_url = ready["baseUrl"]
        self.token = ready["token"]

    def call(self, method, path, body=None):
        headers = {"authorization": f"Bearer {self.token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base_url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or "null")

    def fail(self, *rules):
        self.call("PUT", "/faults", {"rules": rules})

    def attempts(self, operation):
        report = self.call("GET", "/faults")["attempts"]
        return [attempt["carriedOut"] for attempt in report if attempt["operation"] == operation]

    def reset(self):
        self.fail()
        self.call("POST", "/dev/reset")


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    faults = tmp_path_factory.mktemp("irm") / "faults.yaml"
    faults.write_text("rules: []\n")
    flags = ["--dev", "--json", "--log-level", "error", "--seed", str(SEED), "--faults", str(faults)]
    # In a session of its own: the signal must reach the server, and npx does not always pass it on.
    with subprocess.Popen([*COMMAND, "serve", *flags], stdout=subprocess.PIPE, start_new_session=True) as process:
        line = process.stdout.readline()
        if not line:
            pytest.exit(f"{shlex.join(COMMAND)} serve did not start", returncode=1)
        yield Server(json.loads(line))
        os.killpg(process.pid, signal.SIGTERM)


@pytest.fixture
def server(running):
    yield running
    running.reset()
