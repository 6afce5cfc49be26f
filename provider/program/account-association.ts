// AccountAssociation: the accounts of a group at cloud providers, and its installations of GitHub apps.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../schema/index.ts";
import type {
  AccountAssociation as AccountAssociationMessage,
  ListAccountAssociationsRequest,
} from "../../schema/public.ts";
import type { AdoptArgs } from "./adoption.ts";
import { getByUid, getOutput } from "./get.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";
import { type ListArgs, listRecords } from "./list.ts";
import { IrmResource } from "./resource.ts";

export interface GitHubInstallation {
  /** Decimal */
  installationId: pulumi.Input<string>;
  /** For people to read; default: empty */
  name?: pulumi.Input<string>;
}

export interface AccountAssociationArgs extends AdoptArgs {
  /** The group that has the accounts, at most one association each: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** AWS */
  amazon?: pulumi.Input<{
    /** Twelve digits */
    account: pulumi.Input<string>;
  }>;
  /** Google Cloud */
  google?: pulumi.Input<{
    /** Id of the project: `acme-production` */
    projectId: pulumi.Input<string>;
    /** Number of the project, decimal */
    projectNumber: pulumi.Input<string>;
  }>;
  /** Azure */
  azure?: pulumi.Input<{
    /** Id of the tenant */
    tenantId: pulumi.Input<string>;
    /** Client id by the component's name, at least one */
    clientIds: pulumi.Input<Record<string, pulumi.Input<string>>>;
  }>;
  /** Services of the platform itself */
  chainguard?: {
    /** The identity that a service assumes, an Identity or a uid, by the service's name; at least one */
    serviceBindings: Record<string, Identity | pulumi.Input<string>>;
  };
  /** Apps on GitHub */
  github?: pulumi.Input<{
    /** Installations by the id of the app (decimal); their order means nothing */
    appInstallations: pulumi.Input<
      Record<string, pulumi.Input<{ installations: pulumi.Input<pulumi.Input<GitHubInstallation>[]> }>>
    >;
  }>;
  /** Allows a change of parent to move the accounts to another group; default: refused in the preview */
  allowReplace?: boolean;
}

export class AccountAssociation extends IrmResource {
  /** uid of the group that has the accounts: the association has the same */
  declare readonly parent: pulumi.Output<string>;
  /** As given */
  declare readonly name: pulumi.Output<string>;
  /** As given; undefined when not */
  declare readonly description: pulumi.Output<string | undefined>;
  /** As given */
  declare readonly amazon: pulumi.Output<AccountAssociationMessage["amazon"]>;
  /** As given */
  declare readonly google: pulumi.Output<AccountAssociationMessage["google"]>;
  /** As given */
  declare readonly azure: pulumi.Output<AccountAssociationMessage["azure"]>;
  /** As given, with the uids of the identities */
  declare readonly chainguard: pulumi.Output<AccountAssociationMessage["chainguard"]>;
  /** As given */
  declare readonly github: pulumi.Output<AccountAssociationMessage["github"]>;
  /** RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;

  constructor(name: string, args: AccountAssociationArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("accountAssociation", name, args, opts);
  }

  /** The association of the group with this uid, as it is: read in each run, and never changed or deleted by this stack */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): AccountAssociation {
    return new this(name, {} as AccountAssociationArgs, { ...opts, id: uid });
  }
}

/** An account association by its group, whose uid it has. */
export interface GetAccountAssociationArgs {
  /** uid of the group */
  group: string;
}

/** The account association of a group. */
export const getAccountAssociation = ({ group }: GetAccountAssociationArgs): Promise<AccountAssociationMessage> =>
  getByUid<AccountAssociationMessage>(resources.accountAssociation, group);

/** The same with inputs that may not be known yet. */
export interface GetAccountAssociationOutputArgs {
  /** The group: a Group or a uid */
  group: Group | pulumi.Input<string>;
}

/** getAccountAssociation with inputs that may not be known yet. */
export const getAccountAssociationOutput = (
  args: GetAccountAssociationOutputArgs,
): pulumi.Output<AccountAssociationMessage> =>
  getOutput(resources.accountAssociation, getAccountAssociation, args, "group");

export type ListAccountAssociationsArgs = ListArgs<ListAccountAssociationsRequest>;

/** Account associations that the caller may read. */
export const listAccountAssociations = (args: ListAccountAssociationsArgs = {}) =>
  listRecords<AccountAssociationMessage>(resources.accountAssociation, args);
