/** What a service shall be, whatever runs it. */
export interface ServiceRequest {
  /** `tunnel-agent`, or with `-NAME` behind it. */
  name: string;
  scope: 'system' | 'user';
  /** An account that exists. Undefined: one of the service's own where the system has that. */
  runAs: string | undefined;
  /** The settings as YAML, without the key. */
  config: string;
  key: string;
  graceSeconds: number;
  fileRoots: readonly string[];
  program: ServiceProgram;
  /** The home of this user. */
  home: string;
}

/** The running program, which is copied: it may be in a cache, or where a service cannot read. */
export interface ServiceProgram {
  /** Node, or the executable with Node inside. */
  executable: string;
  /** Null: the executable is the whole program. */
  script: string | null;
}

/** Where below `folder` the copy goes, and how it is started. `ending`: of programs on this system. */
export function programIn(
  { program: { executable, script } }: ServiceRequest,
  folder: string,
  { join, ending = '' }: { join: (...parts: string[]) => string; ending?: string },
): { path: string; of: string; command: string[] } {
  const path = join(folder, `gatehouse-agent${script === null ? ending : '.mjs'}`);
  return script === null
    ? { path, of: executable, command: [path] }
    : { path, of: script, command: [executable, path] };
}
