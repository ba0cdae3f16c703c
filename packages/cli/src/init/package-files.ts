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

type Packages = Readonly<Record<string, string>>

/** What of a package.json counts here. */
interface Manifest {
  readonly dependencies?: Packages
  readonly devDependencies?: Packages
}

/** Whether a package.json is only what an install of Belay leaves in an empty folder: then the project is still to be made. */
export function isOnlyBelay(text: string): boolean {
  const { dependencies = {}, devDependencies = {}, ...others } = manifestOf(text)
  const packages = Object.keys({ ...dependencies, ...devDependencies })
  return (
    // pnpm and Yarn add themselves.
    Object.keys(others).every((name) => name === 'packageManager') &&
    packages.length > 0 &&
    packages.every((name) => name.startsWith('@belay/'))
  )
}

function manifestOf(text: string): Manifest {
  try {
    return Object(JSON.parse(text)) as Manifest
  } catch {
    // npm will say what is wrong with it.
    return { 'not JSON': true } as Manifest
  }
}

/** `package.json`, with all that was present. Programs are compiled first: Node 20 does not run TypeScript. */
export function manifest(name: string, store: StoreKind, present = '{}'): string {
  const { dependencies, devDependencies, ...others } = manifestOf(present)
  const own = (packages: Packages) =>
    Object.fromEntries(Object.entries(packages).filter(([each]) => devDependencies?.[each] === undefined))
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
    ...others,
    dependencies: {
      ...own({
        '@belay/cli': belay,
        '@belay/workflow': belay,
        '@belay/workflow-postgres': belay,
        ...(store === 'pglite' ? { '@electric-sql/pglite': pglite } : {}),
      }),
      ...dependencies,
    },
    devDependencies: { '@belay/testing': belay, ...development, ...devDependencies },
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
