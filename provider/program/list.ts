// Lists for programs, as async iterables.
import { listAll } from "../../client/paginate.ts";
import type { Json, Resource } from "../../schema/index.ts";
import { isPlanned } from "./planned.ts";
import { programSession } from "./session.ts";

/** Filters (several are ANDed), `orderBy` and `pageSize` (default and most: 200) of the API's list request. */
export type ListArgs<Request> = Omit<Request, "pageToken" | "skip">;

// What a list leaves out, the program's filters say. There is nothing yet in a record that the update creates.
export async function* listRecords<T extends { uid: string }>(
  resource: Resource,
  args: Json,
): AsyncGenerator<T, void, undefined> {
  if (isPlanned(args)) return;
  const { operation, plural } = resource.list;
  const own = await withRole(resource, args);
  yield* listAll<T>(await programSession(), { operation, plural }, own);
}

/** A list of role bindings takes the name of a built-in role. */
const withRole = async ({ field }: Resource, args: Json): Promise<Json> => {
  if (field !== "roleBinding" || args.role === undefined) return args;
  const { builtInRoleUid, isRoleName } = await import("../kind/built-in-role.ts");
  return isRoleName(args.role) ? { ...args, role: await builtInRoleUid(await programSession(), args.role) } : args;
};
