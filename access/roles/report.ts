// The document that `irm roles --format json` prints, and that every other format shows.
import type { Live } from "../graph/live.ts";
import { notVisibleRows } from "../review/lists.ts";
import type { NotVisible, Origin } from "../review/report.ts";
import { builtInRolesIn, type RoleChange, roleChanges } from "./change.ts";
import type { LockedRoles } from "./lock.ts";

export interface RolesReport {
  origin?: Origin;
  /** what the service has, by name */
  roles: { name: string; uid: string; capabilities: readonly string[] }[];
  /** what differs from roles.lock.yaml; without one, from the table of this version */
  changed: RoleChange[];
  notVisible: NotVisible[];
}

export const rolesReportOf = (service: string, live: Live, recorded: LockedRoles, nowMs: number): RolesReport => ({
  roles: [...builtInRolesIn(live.graph).values()]
    .flat()
    .map(({ id, name, capabilities }) => ({ name, uid: id, capabilities }))
    .sort((a, b) => (`${a.name} ${a.uid}` < `${b.name} ${b.uid}` ? -1 : 1)),
  changed: roleChanges(service, live, recorded, nowMs),
  notVisible: notVisibleRows(live.graph, live.notVisible),
});
