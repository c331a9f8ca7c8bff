export class PlainFailure extends Error {
  readonly advice: string[];
  readonly exitCode: number;
  constructor(message: string, options?: { advice?: string[]; exitCode?: number; cause?: unknown });
}
export function reportFailure(error: unknown): number;
export function explainFullDisk(error: unknown, folder: string): unknown;
