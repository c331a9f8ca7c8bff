export function findNpm(): string;
export function npmEnvironment(): NodeJS.ProcessEnv;
