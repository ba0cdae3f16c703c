import { readFileSync } from 'node:fs'

export type StoreKind = 'postgres' | 'pglite'

/** The packages of Belay have one version. */
function belayVersion(): string {
  const own = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return `^${(JSON.parse(own) as { readonly version: string }).version}`
}

/** What a new project installs besides Belay. */
const OTHERS = {
  '@electric-sql/pglite': '^0.5.16',
  '@types/node': '^20.19.37',
  typescript: '^7.0.2',
  vitest: '^4.1.12',
}

/** `package.json`. Programs are compiled first: Node 20 does not run TypeScript. */
export function manifest(name: string, store: StoreKind): string {
  const belay = belayVersion()
  const { '@electric-sql/pglite': pglite, ...development } = OTHERS
  const programs =
    store === 'postgres'
      ? { worker: 'tsc && node dist/src/worker.js', start: 'tsc && node dist/src/start.js' }
      : { start: 'tsc && node dist/src/main.js' }
  const contents = {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: { ...programs, test: 'tsc && vitest run --dir test' },
    dependencies: {
      '@belay/cli': belay,
      '@belay/workflow': belay,
      '@belay/workflow-postgres': belay,
      ...(store === 'pglite' ? { '@electric-sql/pglite': pglite } : {}),
    },
    devDependencies: { '@belay/testing': belay, ...development },
  }
  return `${JSON.stringify(contents, null, 2)}\n`
}

export const tsconfig = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true,
    "rootDir": ".",
    "outDir": "dist"
  },
  "include": ["src", "test", "belay.config.ts"]
}
`

export function gitignore(store: StoreKind): string {
  return `node_modules/\ndist/\n${store === 'pglite' ? 'data/\ndata.lock\n' : ''}`
}
