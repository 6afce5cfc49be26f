// OpenAPI links: from a call to the calls that its response leads to (create → get → patch → delete → get), for readers and
// for tools that follow them. Path parameters alone cannot show this, because every one is a `uid`.

import type { Operation } from "../operation.ts";
import { operations } from "../operations.ts";
import { operationIdOf } from "./name.ts";

interface Link {
  operationId: string;
  parameters: { uid: string };
}

const rows = Object.entries(operations as Record<string, Operation>);

// Services whose records have a parent other than a group, with the service that creates the parent.
const PARENTS: Record<string, string> = {
  "iam.ExternalGroupRoleMappingsService": "iam.IdentityProvidersService",
  "registry.TagsService": "registry.ReposService",
};

const parentService = (service: string): string => PARENTS[service] ?? "iam.GroupsService";

const ofRecord = (service: string) => rows.filter(([, row]) => row.service === service && /[{.]uid=/.test(row.path));

const childrenOf = (service: string) =>
  rows.filter(([, row]) => row.path.endsWith("{parent=**}") && parentService(row.service) === service);

export const linksFrom = (name: string, row: Operation): Record<string, Link> => {
  const [place, targets] = nextOf(row);
  const others = targets.filter(([other]) => other !== name);
  return Object.fromEntries(
    others.map(([other, target]) => [
      other,
      { operationId: operationIdOf(other, target), parameters: { uid: place as string } },
    ]),
  );
};

// Where the uid of the next call comes from, and which calls can follow.
const nextOf = ({ method, service, response }: Operation): [place: string, targets: typeof rows] => {
  if (method === "DELETE") return ["$request.path.uid", ofRecord(service).filter(([, row]) => row.method === "GET")];
  if ("uid" in response.shape) return ["$response.body#/uid", [...ofRecord(service), ...childrenOf(service)]];
  const [plural] = Object.keys(response.shape);
  const paged = "nextPageToken" in response.shape;
  return paged
    ? [`$response.body#/${plural}/0/uid`, ofRecord(service).filter(([, row]) => row.method === "GET")]
    : ["", []];
};
