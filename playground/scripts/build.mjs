import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { serviceWorker } from './service-worker.mjs'
import { makeSnapshot } from './snapshot.mjs'

/**
 * Builds the playground into `dist/`: static files for any server. The scripts of the page and of the workers share their chunks, so that the reader's code
 * imports the very module that the engines are of.
 */
const folder = fileURLToPath(new URL('..', import.meta.url))
const out = join(folder, 'dist')
const pglite = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))

const ENTRIES = {
  page: 'src/page/main.tsx',
  database: 'src/database/worker.ts',
  worker: 'src/engine/worker.ts',
  app: 'src/app/worker.ts',
  belay: 'src/belay.ts',
  play: 'src/play.ts',
}

export async function buildPlayground() {
  rmSync(join(out, 'chunks'), { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  await bundleScripts()
  writeFileSync(join(out, 'page.css'), await style())
  cpSync(join(folder, 'index.html'), join(out, 'index.html'))
  for (const name of ['pglite.wasm', 'pglite.data']) cpSync(join(pglite, name), join(out, name))
  await makeSnapshotIfOld(join(out, 'snapshot.tar.gz'))
  const files = builtFiles().filter((name) => !['sw.js', 'index.html'].includes(name))
  writeFileSync(join(out, 'sw.js'), serviceWorker(out, ['index.html', ...files]))
}

function builtFiles() {
  return readdirSync(out, { recursive: true })
    .map((name) => String(name).replaceAll('\\', '/'))
    .filter((name) => statSync(join(out, name)).isFile())
    .sort()
}

/** What a first visit loads, as a table. */
export function printSizes() {
  const kilobytes = (/** @type {number} */ bytes) => Math.ceil(bytes / 1_000)
  console.table(
    Object.fromEntries(
      builtFiles().map((name) => {
        const body = readFileSync(join(out, name))
        return [name, { kB: kilobytes(body.length), gzipped: kilobytes(gzipSync(body).length) }]
      }),
    ),
  )
}

async function bundleScripts() {
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(folder, file)])),
    platform: 'browser',
    logLevel: 'warn',
    preserveEntrySignatures: 'strict',
    // PGlite's own eval is for Node only. The JSX of `tsconfig.json` is the same as below.
    checks: { configurationFieldConflict: false, importIsUndefined: false, eval: false },
    plugins: [rawTexts(), withoutNode()],
    resolve: { alias: { '@belay/graph-view': join(folder, '../packages/graph-view/src/index.ts') } },
    transform: {
      jsx: { runtime: 'automatic', importSource: 'preact' },
      define: { 'process.env.NODE_ENV': '"development"' },
    },
  })
  await bundle.write({
    dir: out,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
}

/** `./file.ts?raw` is the text of that file. */
function rawTexts() {
  return {
    name: 'raw-texts',
    resolveId(/** @type {string} */ source, /** @type {string | undefined} */ importer) {
      return source.endsWith('?raw') && importer ? join(dirname(importer), source) : undefined
    },
    load(/** @type {string} */ id) {
      if (!id.endsWith('?raw')) return undefined
      return `export default ${JSON.stringify(readFileSync(id.slice(0, -'?raw'.length), 'utf8'))}`
    },
  }
}

/** What is loaded only in Node, and PGlite's other places to store a database in: nothing here would import them. */
function withoutNode() {
  const EMPTY = '\0empty'
  const NODE = /^(node:|fs$|path$|module$|url$|crypto$|ws$)/
  const PLACES = /\/(nodefs|opfs-ahp|memfs2opfs)\.js$|\/directory-lock[^/]*$/
  return {
    name: 'without-node',
    resolveId(/** @type {string} */ source) {
      return NODE.test(source) || PLACES.test(source) ? EMPTY : undefined
    },
    load(/** @type {string} */ id) {
      return id === EMPTY ? 'export default {}' : undefined
    },
  }
}

async function style() {
  const styles = join(folder, 'styles')
  const drawings = await rolldown({
    input: join(folder, '../packages/graph-view/src/style.ts'),
    logLevel: 'warn',
  })
  const { output } = await drawings.generate({ format: 'esm', codeSplitting: false })
  const { drawingStyle } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
  // Of the dashboard: what its buttons, badges, dialogs and states look like.
  const shared = ['tokens', 'base', 'state', 'run', 'dialogs'].map((name) =>
    readFileSync(join(folder, `../packages/dashboard/ui/styles/${name}.css`), 'utf8'),
  )
  const own = readdirSync(styles)
    .filter((name) => name.endsWith('.css'))
    .sort()
    .map((name) => readFileSync(join(styles, name), 'utf8'))
  return [...shared, drawingStyle, ...own].join('\n')
}

/** Making it takes some seconds: it is made again only when the schema may have changed. */
async function makeSnapshotIfOld(/** @type {string} */ file) {
  const migrations = join(folder, '../migrations')
  const sources = [
    ...readdirSync(migrations, { recursive: true }).map((name) => join(migrations, String(name))),
    fileURLToPath(new URL('snapshot.mjs', import.meta.url)),
    join(pglite, 'pglite.wasm'),
  ]
  const newest = Math.max(...sources.map((source) => statSync(source).mtimeMs))
  if (existsSync(file) && statSync(file).mtimeMs > newest) return
  writeFileSync(file, await makeSnapshot())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildPlayground()
  printSizes()
}
