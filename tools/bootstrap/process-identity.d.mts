export interface ProcessIdentity {
  pid: number;
  startTime?: string | undefined;
}
export function startTimeOf(pid: number): string | undefined;
export function parentOf(pid: number): number | undefined;
export function isRunning(identity: ProcessIdentity): boolean;
