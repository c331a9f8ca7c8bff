export declare const SERVICE_PROGRAMS: Readonly<Record<string, readonly string[]>>;
