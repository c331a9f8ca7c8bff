const IMPORT = /^import (.+) from "(?:node:)?http";$/gm;
const NAMED = /^(?:([\w$]+), )?\{ (.+) \}$/;
const WHOLE = /^(?:\* as )?([\w$]+)$/;

/** What stands between `const` and the module, for what stood between `import` and `from`. */
function patternsOf(bindings) {
  const [, whole] = WHOLE.exec(bindings) ?? [];
  if (whole !== undefined) return [whole];
  const [, main, names] = NAMED.exec(bindings) ?? [];
  if (names === undefined) throw new Error(`An import of node:http that nobody knows: ${bindings}`);
  return [...(main === undefined ? [] : [main]), `{ ${names.replaceAll(' as ', ': ')} }`];
}

/**
 * For the bundler: has a program require node:http instead of importing it. An import reads every export once, and the one that
 * is a WebSocket loads Node's whole `fetch`: half of the start of a small program.
 */
export function requiredHttp() {
  return {
    name: 'required-http',
    renderChunk(code) {
      let isFirst = true;
      // Lines stay where they are: the map is as good as before.
      const changed = code.replaceAll(IMPORT, (_, bindings) => {
        const head = isFirst ? 'import { createRequire as requireFrom$ } from "node:module"; ' : '';
        isFirst = false;
        const module = 'requireFrom$(import.meta.url)("node:http")';
        return (
          head +
          patternsOf(bindings)
            .map((pattern) => `const ${pattern} = ${module};`)
            .join(' ')
        );
      });
      return isFirst ? null : { code: changed, map: null };
    },
  };
}
