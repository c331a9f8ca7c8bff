/**
 * The environment of a program that a test starts: none of the test runner's variables but where programs are, and where Node
 * keeps what it has compiled. Loading the modules of a service again without that is a fifth of its start.
 */
export function programEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }), ...more };
}
