// Where a repo syncs from (docs/contract.md#sync-source): a repo that the caller may pull from. A request names it by uid,
// by its path in the catalog (`chainguard/nginx`) or by the image (`cgr.dev/chainguard/nginx`). The uid is stored.
import { ancestorsOf, inputFields, isUidp, type Json, type Repo, SyncConfig } from "../../schema/index.ts";
import { can } from "../caller/authorize.ts";
import { shapes } from "../store/shape.ts";
import type { Row, Store } from "../store/store.ts";
import type { ServiceContext } from "./context.ts";
import { throwIfAny, timeText } from "./record.ts";

type Sync = NonNullable<Repo["sync_config"]>;

const LIFE_MS = 14 * 24 * 60 * 60 * 1000;

// The capabilities to pull an image.
const PULL = ["manifest.list", "repo.blobs.get"];

// Each read of a repo follows its sources: in a list of a thousand repos, a thousand times.
const SOURCES_MAX = 10;

/** The source of a repo, if it exists, is not one of `seen`, and is near enough. */
export const sourceOf = (store: Store, row: Row, seen: readonly string[] = []): Row | undefined => {
  const uid = (row.body.sync_config as Sync | undefined)?.source;
  const isNear = uid && uid !== row.uid && !seen.includes(uid) && seen.length < SOURCES_MAX;
  return isNear ? store.get(shapes.repo, uid) : undefined;
};

/** The stored form of a sync config: the source as uid, the rest as given, the time of `row` or of now. */
export const resolveSync = (context: ServiceContext, sync: Repo["sync_config"], row?: Row): Sync | undefined => {
  if (!sync) return undefined;
  const before = row?.body.sync_config as Sync | undefined;
  const source = sync.source === before?.source ? before.source : resolve(context, sync.source);
  if (!source || source === row?.uid) {
    const description = source
      ? "must be another repo"
      : `${JSON.stringify(sync.source)} is not a repo that you may pull from`;
    throwIfAny([{ field: "sync_config.source", description }]);
  }
  const given = Object.fromEntries(inputFields(SyncConfig).map((name) => [name, (sync as Json)[name]]));
  const expirationTime = before?.expirationTime ?? timeText(context.now + LIFE_MS);
  return { ...given, source, expirationTime } as Sync;
};

const resolve = ({ store, caller }: ServiceContext, text: string): string | undefined => {
  const found = isUidp(text) ? [text] : withPath(store, text);
  const [only, ...others] = found.filter((uid) => store.get(shapes.repo, uid) && can(caller, PULL, uid));
  return others.length === 0 ? only : undefined;
};

// A path has the names of the groups from the root and of the repo, and may begin with the host of a registry. The name of a
// repo may have slashes.
const withPath = (store: Store, text: string): string[] => {
  const segments = text.split("/");
  const paths = [text, ...(segments.length > 2 ? [segments.slice(1).join("/")] : [])];
  const named = store.statement("SELECT uid FROM repos WHERE name = ?");
  const names = segments.map((_, i) => segments.slice(i).join("/"));
  const uids = names.flatMap((name) => named.all(name)).map(({ uid }) => uid as string);
  return uids.filter((uid) => paths.includes(pathOf(store, uid)));
};

const pathOf = (store: Store, uid: string): string => {
  const above = ancestorsOf(uid).map((group) => store.get(shapes.group, group)?.columns.name);
  return [...above, store.get(shapes.repo, uid)?.columns.name].join("/");
};
