// One thing that `irm doctor` looks at.

export interface Check {
  /** stable, for scripts: `connection`, `claim.sub` */
  id: string;
  ok: boolean;
  message: string;
  /** what to do; only where it is not ok */
  fix?: string;
}

export const good = (id: string, message: string): Check => ({ id, ok: true, message });

export const bad = (id: string, message: string, fix: string): Check => ({ id, ok: false, message, fix });
