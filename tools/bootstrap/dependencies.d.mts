export declare function areDependenciesInstalled(root?: string): boolean;
export declare function adoptInstalledTree(root?: string): boolean;
