export interface ServicePrograms {
  readonly alone: readonly string[];
  readonly together: readonly string[];
}

export declare const SERVICE_PROGRAMS: Readonly<Record<string, ServicePrograms>>;
