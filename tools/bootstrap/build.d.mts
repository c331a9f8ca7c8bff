export declare function incompleteProjects(root?: string): string[];
export declare function isBuilt(root?: string): boolean;
