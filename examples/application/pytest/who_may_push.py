"""The application: who may push images to a repo. It repeats a read that fails."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

ATTEMPTS = 3


def who_may_push(base_url, token, name):
    repos = list_all(base_url, token, "/registry/v2beta1/repos", "repos", name=name)
    if not repos:
        raise LookupError(f"there is no repo {name}")
    repo = repos[0]
    roles = list_all(base_url, token, "/iam/v2beta1/roles", "roles")
    pushing = {role["uid"] for role in roles if "CAP_MANIFEST_CREATE" in role["capabilities"]}
    bindings = list_all(base_url, token, "/iam/v2beta1/roleBindings", "roleBindings")
    # A role binding holds in its group and below: the uid of the repo begins with that of the group.
    return sorted(
        binding["identity"]["name"]
        for binding in bindings
        if binding["role"]["uid"] in pushing and repo["uid"].startswith(binding["group"]["uid"] + "/")
    )


def list_all(base_url, token, path, field, **query):
    """All pages of a list."""
    page = get(base_url, token, f"{path}?{urllib.parse.urlencode(query)}")
    found = page[field]
    if page.get("nextPageToken"):
        found += list_all(base_url, token, path, field, **{**query, "pageToken": page["nextPageToken"]})
    return found


def get(base_url, token, target):
    request = urllib.request.Request(base_url + target, headers={"authorization": f"Bearer {token}"})
    for attempt in range(1, ATTEMPTS + 1):
        seconds = 0
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == ATTEMPTS:
                raise
            seconds = int(error.headers.get("retry-after", 1))
        except OSError:
            if attempt == ATTEMPTS:
                raise
        time.sleep(seconds)
