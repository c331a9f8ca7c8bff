/** The commands of `node tools/run.mjs <name>`: what each does, and whether it needs the build. */
export const COMMANDS = {
  build: { about: 'compile every package that changed', script: 'build', wantsBuild: true },
  dev: {
    about: 'the whole platform, compiled and restarted as you edit, with debuggers and the consoles reloading',
    script: 'dev',
    wantsBuild: true,
  },
  check: { about: 'formatting, lint, types and architecture', script: 'check', wantsBuild: false },
  format: { about: 'format every source file in place', script: 'format', wantsBuild: false },
  tour: { about: 'walk through a running platform with real traffic', script: 'tour', wantsBuild: true },
  bench: { about: 'benchmarks; without a name it lists them', script: 'bench', wantsBuild: true },
  'db-url': {
    about: "print the connection string of the running platform's database",
    script: 'db:url',
    wantsBuild: true,
  },
  backup: {
    about: 'write the whole database to FILE (--without-logs)',
    script: 'backup',
    wantsBuild: true,
    args: '-- FILE',
  },
  restore: {
    about: 'replace the database by what FILE holds (--force over data)',
    script: 'restore',
    wantsBuild: true,
    args: '-- FILE',
  },
  'secrets-rotate': {
    about: 'seal everything again with the newest secret key (--new-key, --drop-old-keys)',
    script: 'secrets:rotate',
    wantsBuild: true,
  },
  'tunnel-identity': {
    about: 'exchange the key that agents know the tunnel gateway by (prepare, exchange, retire, status)',
    script: 'tunnel:identity',
    wantsBuild: true,
    args: '-- STEP',
  },
  security: {
    about: 'try the attacks of docs/security.md on the running platform',
    script: 'security',
    wantsBuild: true,
  },
  'seed-demo': {
    about: 'an application, users and shares to try resource-sharing with, and the calls to make',
    script: 'seed:demo',
    wantsBuild: true,
  },
  'rehearse-scale': {
    about: 'replace each of several copies of everything under load (--previous COMMIT)',
    script: 'rehearse:scale',
    wantsBuild: true,
  },
  'rehearse-staging': {
    about: 'run docker-compose.yml as local processes',
    script: 'rehearse:staging',
    wantsBuild: true,
  },
  runtimes: {
    about: 'all that is promised of other versions of Node and PostgreSQL, on each of them',
    script: 'runtimes',
    wantsBuild: true,
  },
  faults: {
    about: 'do harm to a platform of its own, and say what its users saw (--write)',
    script: 'faults',
    wantsBuild: true,
  },
  hostile: {
    about: 'attack a platform of its own from all sides, and say what bystanders saw (--minutes N)',
    script: 'hostile',
    wantsBuild: true,
  },
  replicas: {
    about:
      'two replicas of each service under faults between them and the database, and what must hold (--only, --rounds, --write)',
    script: 'replicas',
    wantsBuild: true,
  },
  schemas: {
    about: 'describe the types of the contracts again, for the interface descriptions',
    script: 'schemas',
    wantsBuild: true,
  },
  conformance: {
    about: 'print which clause of which standard which test holds',
    script: 'conformance',
    wantsBuild: true,
  },
  docs: {
    about: 'render the documentation that the services show at /help/ (--out FOLDER to publish it elsewhere)',
    script: 'docs',
    wantsBuild: true,
  },
  'agent-executable': {
    about: 'make the agent with Node inside, for this system (--out FOLDER)',
    script: 'agent:executable',
    wantsBuild: true,
  },
  'agent-package': {
    about: 'make the npm package of the agent (--out FOLDER)',
    script: 'agent:package',
    wantsBuild: true,
  },
  screens: {
    about: 'take pictures of every page of a running platform, and report what is wrong with any',
    script: 'screens',
    wantsBuild: true,
  },
  peers: { about: 'bring the real servers that interop tests and benchmarks use', script: 'peers', wantsBuild: true },
};

export function commandList() {
  const rows = [
    ['npm start', 'install, build and run the whole platform'],
    ['npm test', 'install, build and run the whole test suite'],
    ...Object.values(COMMANDS).map(({ about, script, args }) => [
      ['npm run', script, args ?? ''].join(' ').trim(),
      about,
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
