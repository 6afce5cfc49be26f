/** The commands of `irm`, in the groups and the order of its help. */
export const GROUPS = {
  Start: ["init", "serve"],
  Policy: ["check", "test"],
  Change: ["review", "apply"],
  Operate: ["access", "drift", "revoke", "export", "roles"],
  Emergency: ["recover", "doctor"],
};

export const COMMANDS = Object.values(GROUPS).flat();
