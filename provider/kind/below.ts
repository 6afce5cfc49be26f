// What a group may hold and a client can delete (docs/contract.md#d7), in the order in which it can be deleted: a record that
// refers to another one goes first, groups go last.
import { type Resource, resources } from "../../schema/index.ts";

type Deletable = Resource & { operations: Required<Pick<Resource["operations"], "delete">> };

const isDeletable = (one: Resource): one is Deletable => one.parent === "Group" && one.operations.delete !== undefined;

export const BELOW: readonly Deletable[] = Object.values<Resource>(resources).filter(isDeletable).toReversed();
