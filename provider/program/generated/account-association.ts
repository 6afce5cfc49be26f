// Generated from schema/ by `npm run generate`; not to be edited.
import type * as pulumi from "@pulumi/pulumi";
import { resources } from "../../../schema/index.ts";
import type { AccountAssociation as AccountAssociationMessage, ListAccountAssociationsRequest } from "../../../schema/public.ts";
import { type ListArgs, get, getOutput, listRecords } from "../get.ts";
import { IrmResource } from "../resource.ts";
import type { Group } from "./group.ts";
import type { Identity } from "./identity.ts";

/** An installation of a GitHub app. */
export interface GitHubInstallation {
  /** Id of the installation, decimal */
  installationId: pulumi.Input<string>;
  /** For people to read; default: empty */
  name?: pulumi.Input<string>;
}

/**
 * What an AccountAssociation takes.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `account_associations.create`, and with NOT_FOUND a parent, or another record
 * that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new AccountAssociation("cluster-accounts", {
 *   parent: clusters,
 *   name: "cluster accounts",
 *   amazon: { account: "123456789012" },
 *   google: { projectId: "acme-production", projectNumber: "123456789012" },
 *   azure: {
 *     tenantId: "72f988bf-86f1-41af-91ab-2d7cd011db47",
 *     clientIds: { SYNCER: "00000000-0000-0000-0000-000000000001" },
 *   },
 *   chainguard: { serviceBindings: { SYNCER: syncer } },
 *   github: { appInstallations: { "12345": { installations: [{ installationId: "67890", name: "acme" }] } } },
 * });
 * ```
 */
export interface AccountAssociationArgs {
  /** The group that has the accounts, and at most one association: a Group or a uid */
  parent: Group | pulumi.Input<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters; default: empty */
  description?: pulumi.Input<string>;
  /** Account at AWS; default: none */
  amazon?: pulumi.Input<{
    /** Twelve digits */
    account: pulumi.Input<string>;
  }>;
  /** Project at Google Cloud; default: none */
  google?: pulumi.Input<{
    /** Id of the project: `acme-production` */
    projectId: pulumi.Input<string>;
    /** Number of the project, decimal */
    projectNumber: pulumi.Input<string>;
  }>;
  /** Services of the platform itself; default: none */
  chainguard?: {
    /** The identities that services assume, by service name; each is an Identity or a uid; at least one */
    serviceBindings: Record<string, Identity | pulumi.Input<string>>;
  };
  /** Tenant at Azure; default: none */
  azure?: pulumi.Input<{
    /** Id of the tenant */
    tenantId: pulumi.Input<string>;
    /** Client ids by component name, at least one */
    clientIds: pulumi.Input<Record<string, pulumi.Input<string>>>;
  }>;
  /** Apps on GitHub; default: none */
  github?: pulumi.Input<{
    /** Installations by the id of the app (decimal); their order does not matter; default: empty */
    appInstallations?: pulumi.Input<Record<string, pulumi.Input<{
      /** Installations of one app; their order does not matter; default: empty */
      installations?: pulumi.Input<pulumi.Input<GitHubInstallation>[]>;
    }>>>;
  }>;
  /** Allows a change of parent to move the accounts to another group; default: refused in the preview */
  allowReplace?: boolean;
  /**
   * Adopts an existing record: its uid, or "match" for the only one with this parent and name (for a role binding:
   * with this identity and role; for a group invite: with this role and address; for an account association: in
   * this group; for a mapping of an external group: with all its fields). It remains when the resource is deleted.
   * Default: a new record is created
   */
  adopt?: pulumi.Input<string>;
  /** Deletes an adopted record with the resource; default: it remains */
  deleteAdopted?: boolean;
}

/**
 * AccountAssociation: the accounts that a group has with cloud providers, and its installations of GitHub apps.
 *
 * Errors: arguments that break a rule are refused in the preview, each with its path. The service refuses with
 * PERMISSION_DENIED a caller without `account_associations.create`, and with NOT_FOUND a parent, or another record
 * that is referred to, which does not exist.
 *
 * @example
 * ```ts
 * new AccountAssociation("cluster-accounts", {
 *   parent: clusters,
 *   name: "cluster accounts",
 *   amazon: { account: "123456789012" },
 *   google: { projectId: "acme-production", projectNumber: "123456789012" },
 *   azure: {
 *     tenantId: "72f988bf-86f1-41af-91ab-2d7cd011db47",
 *     clientIds: { SYNCER: "00000000-0000-0000-0000-000000000001" },
 *   },
 *   chainguard: { serviceBindings: { SYNCER: syncer } },
 *   github: { appInstallations: { "12345": { installations: [{ installationId: "67890", name: "acme" }] } } },
 * });
 * ```
 */
export class AccountAssociation extends IrmResource {
  /** uid of the group that has the accounts, which is also the uid of the association */
  declare readonly parent: pulumi.Output<string>;
  /** Matches `^[a-z0-9 ._-]{1,}$`, at most 255 characters; not unique */
  declare readonly name: pulumi.Output<string>;
  /** One line, at most 512 characters; default: empty */
  declare readonly description: pulumi.Output<string | undefined>;
  /** Account at AWS */
  declare readonly amazon: pulumi.Output<NonNullable<AccountAssociationMessage["amazon"]> | undefined>;
  /** Project at Google Cloud */
  declare readonly google: pulumi.Output<NonNullable<AccountAssociationMessage["google"]> | undefined>;
  /** Services of the platform itself */
  declare readonly chainguard: pulumi.Output<NonNullable<AccountAssociationMessage["chainguard"]> | undefined>;
  /** Tenant at Azure */
  declare readonly azure: pulumi.Output<NonNullable<AccountAssociationMessage["azure"]> | undefined>;
  /** When it was created: RFC 3339, UTC */
  declare readonly createTime: pulumi.Output<string>;
  /** When it was last changed: RFC 3339, UTC */
  declare readonly updateTime: pulumi.Output<string>;
  /** Apps on GitHub */
  declare readonly github: pulumi.Output<NonNullable<AccountAssociationMessage["github"]> | undefined>;

  /** `name` is its logical name, unique among the resources of its type in the stack. */
  constructor(name: string, args: AccountAssociationArgs, opts: pulumi.CustomResourceOptions = {}) {
    super("accountAssociation", name, args, opts);
  }

  /**
   * The account association with this uid, as it is: read in each run, and never changed or deleted by this stack.
   * NOT_FOUND is an error.
   */
  static get(name: string, uid: pulumi.Input<string>, opts: pulumi.CustomResourceOptions = {}): AccountAssociation {
    return new this(name, {} as AccountAssociationArgs, { ...opts, id: uid });
  }
}

/** An account association by its group, whose uid it has. */
export interface GetAccountAssociationArgs {
  /** uid of the group */
  group: string;
}

/** The same with inputs that may not be known yet. */
export interface GetAccountAssociationOutputArgs {
  /** The group: a Group or a uid */
  group: Group | pulumi.Input<string>;
}

/**
 * The account association of a group.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `account_associations.list`.
 *
 * @example
 * ```ts
 * const found = await getAccountAssociation({ group: platform.uid });
 * ```
 */
export const getAccountAssociation = (args: GetAccountAssociationArgs): Promise<AccountAssociationMessage> =>
  get<AccountAssociationMessage>(resources.accountAssociation, args);

/**
 * getAccountAssociation with inputs that may not be known yet. In a preview that does not know them, its value is
 * not known.
 *
 * Errors: a record that is not found, and several of the name, are an error that says so; PERMISSION_DENIED without
 * `account_associations.list`.
 *
 * @example
 * ```ts
 * const found = getAccountAssociationOutput({ group: platform.uid });
 * ```
 */
export const getAccountAssociationOutput = (args: GetAccountAssociationOutputArgs): pulumi.Output<AccountAssociationMessage> =>
  getOutput<AccountAssociationMessage>(resources.accountAssociation, args);

/**
 * Filters of listAccountAssociations, ANDed, its order and its page size; default: every record that the caller may
 * read.
 */
export type ListAccountAssociationsArgs = ListArgs<ListAccountAssociationsRequest>;

/**
 * Account associations that the caller may read.
 *
 * All pages, read while the program iterates. Errors: PERMISSION_DENIED without `account_associations.list`;
 * INVALID_ARGUMENT for a filter that is none.
 *
 * @example
 * ```ts
 * for await (const accountAssociation of listAccountAssociations({ uidp: { descendantsOf: organization } })) console.log(accountAssociation.uid);
 * ```
 */
export const listAccountAssociations = (args: ListAccountAssociationsArgs = {}): AsyncGenerator<AccountAssociationMessage, void, undefined> =>
  listRecords<AccountAssociationMessage>(resources.accountAssociation, args);
