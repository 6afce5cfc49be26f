// One policy in two environments: the stack's configuration names the file of its environment.
//
//   npx pulumi-irm check production.yaml
//   pulumi up --stack production
import { Config } from "@pulumi/pulumi";
import { AccessPolicy } from "pulumi-irm";

const acme = new AccessPolicy("acme", { file: new Config().require("policy") });

/** IRM_IDENTITY of each workflow */
export const identities = acme.identities;
