import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
const BIOME = join(root, 'node_modules/@biomejs/biome/bin/biome')

/** Those of our own. */
const RULES = 'tools/checks/rules'

interface FileLength {
  readonly options: { maxLines: number }
}

export interface Override {
  readonly includes: readonly string[]
  readonly linter?: {
    readonly rules: {
      readonly style: { readonly noExcessiveLinesPerFile: FileLength; readonly noRestrictedGlobals?: object }
    }
  }
}

export type Config = Readonly<Record<string, unknown>> & { readonly overrides: readonly Override[] }

export function readConfig(): Config {
  return JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Config
}

/** Lints a tree of only these files. Returns which rules report which files. */
export function faultsOf(
  files: Readonly<Record<string, string>>,
  config = readConfig(),
): readonly (readonly [path: string, rule: string])[] {
  const tree = realpathSync(mkdtempSync(join(tmpdir(), 'belay-lint-')))
  try {
    const ofTree = { ...config, vcs: { enabled: false } }
    for (const [path, text] of Object.entries({ ...files, 'biome.json': JSON.stringify(ofTree) })) {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), text)
    }
    cpSync(join(root, RULES), join(tree, RULES), { recursive: true })
    const report = lint(tree)
    const found = [...report.matchAll(/title=(?:lint\/\w+\/)?(\w+),file=([^,]+),/g)]
    return found.map(([, rule, path]) => [relative(tree, path!), rule!] as const)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

/** Biome's report, even if it exits with an error. */
function lint(cwd: string): string {
  const options = ['lint', '--reporter=github', '--max-diagnostics=none', '.']
  try {
    return execFileSync(process.execPath, [BIOME, ...options], { cwd, encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string }
    if (stdout?.includes('::error') !== true) throw error
    return stdout
  }
}
