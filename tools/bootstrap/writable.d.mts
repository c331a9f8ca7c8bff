export function ensureWritable(folders: string[], purpose: string): void;
