// The fields that the service adds to a record. A provider that answers at once makes them up, as long as real ones are.
type Json = Record<string, unknown>;

const TIME = "2026-01-01T00:00:00.000Z";

let count = 0;
const uidIn = (parent: unknown): string => {
  count += 1;
  return `${parent}/${count.toString(16).padStart(16, "0")}`;
};

/** A record that a binding refers to, with its name. */
const boundRecord = (reference: unknown): Json => ({ name: "a name", uid: reference });

/** A role is given by its name. */
const boundRole = (name: unknown): Json => ({ name, uid: "0123456789abcdef0123456789abcdef01234567" });

export const outputsOf = (type: string, inputs: Json): { id: string; outs: Json } => {
  const uid = uidIn(inputs.parent);
  if (type === "Group")
    return {
      id: uid,
      outs: { ...inputs, createTime: TIME, resourceLimits: {}, uid, updateTime: TIME, verified: false },
    };
  if (type === "Identity")
    return { id: uid, outs: { ...inputs, createTime: TIME, lastSeenTime: TIME, uid, updateTime: TIME } };
  const { parent, identity, role } = inputs;
  if (type === "RoleBinding") {
    const records = { group: boundRecord(parent), identity: boundRecord(identity), role: boundRole(role) };
    return { id: uid, outs: { ...inputs, createTime: TIME, ...records, uid } };
  }
  const pairs = (inputs.bindings ?? []) as Json[];
  const bindings = pairs.map((pair) => ({
    uid: uidIn(parent),
    identity: boundRecord(pair.identity),
    role: boundRole(pair.role),
  }));
  const switches = { exclusive: false, maxRemovals: 20, unmanaged: [] };
  return { id: String(parent), outs: { ...inputs, bindings, ...switches, uid: parent, updateTime: TIME } };
};
