/** The commands of `irm`, in the order of its help. */
export const COMMANDS = [
  ...["init", "check", "test", "review", "apply", "serve", "token", "drift", "roles", "access", "paths"],
  ...["export", "revoke", "whoami", "doctor", "journal", "recover", "completion", "help"],
];
