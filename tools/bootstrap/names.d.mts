export const COMMANDS: Readonly<Record<string, { about: string; script: string; wantsBuild: boolean; args?: string }>>;
export function commandList(): string;
