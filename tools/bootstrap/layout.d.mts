export const ROOT: string;
export const OWN: string;
export function projectFolders(root?: string): string[];
