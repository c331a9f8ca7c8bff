export declare function makePrivateFolder(folder: string, mode?: number): void;
export declare function openPrivate(file: string, flags: string): number;
export declare function keepOwner(file: string): void;
export declare function writePrivate(file: string, text: string): void;
