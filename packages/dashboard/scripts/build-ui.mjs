import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

/**
 * Builds the page from `ui/` into `src/assets.generated.ts`: one script, one style sheet and the HTML that loads them, as strings, so that the server needs
 * no files beside it. Names of script and style sheet carry a hash of their content. The same sources give the same module.
 *
 * In the HTML, `__BASE__` stands for the base path with a slash at its end; the server replaces each of them.
 */
const folder = fileURLToPath(new URL('..', import.meta.url))
const SCRIPT_GZIPPED_MAX = 150_000

const script = await bundleScript()
const style = bundleStyle(await drawingStyle())
const scriptName = `app-${hashOf(script)}.js`
const styleName = `app-${hashOf(style)}.css`
const page = readFileSync(join(folder, 'ui/index.html'), 'utf8')
  .replace('app.js', scriptName)
  .replace('app.css', styleName)

/** @type {Readonly<Record<string, { readonly type: string; readonly body: string }>>} */
const assets = {
  'index.html': { type: 'text/html; charset=utf-8', body: page },
  [scriptName]: { type: 'text/javascript; charset=utf-8', body: script },
  [styleName]: { type: 'text/css; charset=utf-8', body: style },
}
writeFileSync(
  join(folder, 'src/assets.generated.ts'),
  `// Made by scripts/build-ui.mjs.\nexport const ASSETS: Readonly<Record<string, { readonly type: string; readonly body: string }>> = ${JSON.stringify(assets, null, 1)}\n`,
)
for (const [name, { body }] of Object.entries(assets))
  console.log(`${name}: ${Buffer.byteLength(body)} B, gzipped ${gzipSync(body).length} B`)
const gzipped = gzipSync(script).length
if (gzipped > SCRIPT_GZIPPED_MAX) {
  console.error(`The script has ${gzipped} B gzipped; at most ${SCRIPT_GZIPPED_MAX} B are allowed.`)
  process.exitCode = 1
}

async function bundleScript() {
  const bundle = await rolldown({
    input: join(folder, 'ui/src/main.tsx'),
    platform: 'browser',
    logLevel: 'warn',
    // React Query marks its modules for React's server components; and the JSX of `ui/tsconfig.json` is the same as below.
    checks: { moduleLevelDirective: false, configurationFieldConflict: false },
    resolve: {
      alias: {
        // Its sources: its own build may not have run yet.
        '@belay/graph-view': join(folder, '../graph-view/src/index.ts'),
        'react/jsx-runtime': 'preact/jsx-runtime',
        react: 'preact/compat',
        'react-dom': 'preact/compat',
      },
    },
    transform: {
      jsx: { runtime: 'automatic', importSource: 'preact' },
      define: { 'process.env.NODE_ENV': '"production"' },
    },
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false })
  return output[0].code
}

/** What the classes of the drawings look like, from their own package: not from its build, which may not have run yet. */
async function drawingStyle() {
  const bundle = await rolldown({ input: join(folder, '../graph-view/src/style.ts'), logLevel: 'warn' })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  const module = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`)
  return module.drawingStyle
}

/** @param {string} drawings */
function bundleStyle(drawings) {
  const styles = join(folder, 'ui/styles')
  const names = readdirSync(styles).filter((name) => name.endsWith('.css'))
  // The tokens first: all others use them.
  names.sort((a, b) => Number(b === 'tokens.css') - Number(a === 'tokens.css') || (a < b ? -1 : 1))
  return [drawings, ...names.map((name) => readFileSync(join(styles, name), 'utf8'))]
    .join('\n')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .trim()
}

/** @param {string} content */
function hashOf(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 8)
}
