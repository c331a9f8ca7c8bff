/** The interface description of a running service, as far as clients of the open API need it. */
export async function readDescription(address) {
  const answer = await fetch(new URL('/api/open/openapi.json', address));
  if (!answer.ok) throw new Error(`the description was answered with ${answer.status}`);
  return forApplications(await answer.json());
}

/** Only the open API: sign-in is written by hand, and the rest is for the pages of the site. Examples are of no use in types. */
function forApplications(description) {
  const paths = Object.entries(description.paths).filter(([path]) => path.startsWith('/api/open/'));
  const used = new Set();
  const find = (value) => {
    for (const [, name] of JSON.stringify(value).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (used.has(name)) continue;
      used.add(name);
      find(description.components.schemas[name]);
    }
  };
  const { schemas, responses } = description.components;
  find([paths, responses]);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  const text = JSON.stringify({
    ...description,
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(kept), responses },
  });
  return JSON.parse(text, (name, value) => (name === 'examples' || name === 'example' ? undefined : value));
}
