import { basename } from 'node:path';

/** TypeORM's factory of drivers loads them all; nothing else does. */
const OTHER_DRIVER = /[\\/]node_modules[\\/]typeorm[\\/]driver[\\/](?!postgres[\\/])[^\\/]+[\\/](\w+Driver)\.js$/;

/**
 * For a bundle: leaves out TypeORM's drivers of other databases, with their statements. They are a megabyte of text for each
 * service, which V8 keeps in memory.
 */
export function oneDatabase() {
  return {
    name: 'one-database',
    load(id) {
      if (!OTHER_DRIVER.test(id)) return null;
      const name = basename(id, '.js');
      return `exports.__esModule = true;
exports.${name} = class ${name} { constructor() { throw new Error("The bundle has no ${name}."); } };`;
    },
  };
}
