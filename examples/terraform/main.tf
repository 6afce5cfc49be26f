terraform {
  required_providers {
    chainguard = {
      source  = "chainguard-dev/chainguard"
      version = "~> 0.4"
    }
  }
}

provider "chainguard" {}

locals {
  github = "https://token.actions.githubusercontent.com"
}

data "chainguard_group" "acme" {
  name      = "acme"
  parent_id = "/"
}

data "chainguard_role" "pull" {
  name   = "registry.pull"
  parent = "/"
}

resource "chainguard_group" "platform" {
  parent_id = data.chainguard_group.acme.id
  name      = "platform"
}

resource "chainguard_role" "publisher" {
  parent_id    = chainguard_group.platform.id
  name         = "publisher"
  capabilities = ["repo.list", "tag.create"]
}

resource "chainguard_identity" "release" {
  parent_id = chainguard_group.platform.id
  name      = "release"

  claim_match {
    issuer  = local.github
    subject = "repo:acme@123456/images@456789:ref:refs/heads/main"
  }
}

resource "chainguard_identity" "nightly" {
  parent_id = chainguard_group.platform.id
  name      = "nightly"

  claim_match {
    issuer  = local.github
    subject = "repo:acme@123456/nightly@456798:ref:refs/heads/main"
  }
}

resource "chainguard_rolebinding" "release" {
  group    = chainguard_group.platform.id
  identity = chainguard_identity.release.id
  role     = chainguard_role.publisher.id
}

resource "chainguard_rolebinding" "nightly" {
  group    = chainguard_group.platform.id
  identity = chainguard_identity.nightly.id
  role     = data.chainguard_role.pull.items[0].id
}
