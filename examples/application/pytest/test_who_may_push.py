import urllib.error

import pytest
from who_may_push import who_may_push


def names(server):
    return who_may_push(server.base_url, server.token, "nginx")


def test_names_the_identities_with_a_role_that_pushes(server):
    assert names(server) == ["owner", "release"]


def test_does_not_name_an_identity_that_was_deleted(server):
    found = server.call("GET", "/iam/v2beta1/identities?name=release")
    server.call("DELETE", f"/iam/v2beta1/identities/{found['identities'][0]['uid']}")
    assert names(server) == ["owner"]


def test_repeats_a_read_that_is_refused_and_one_whose_connection_breaks(server):
    steps = [{"status": 503, "retryAfter": 0}, {"reset": True}]
    server.fail({"operation": "ListRoleBindings", "steps": steps})
    assert names(server) == ["owner", "release"]
    assert server.attempts("ListRoleBindings") == [False, False, True]


def test_gives_up_after_three_attempts(server):
    steps = [{"status": 503, "retryAfter": 0}]
    server.fail({"operation": "ListRoles", "repeat": True, "steps": steps})
    with pytest.raises(urllib.error.HTTPError, match="503"):
        names(server)
    assert server.attempts("ListRoles") == [False, False, False]
