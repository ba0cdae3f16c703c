import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'

/** Whether npm's Chromium runs here: it is built for one platform. */
export const hasPackedChromium = process.platform === 'linux' && process.arch === 'x64'

interface Unpacked {
  readonly executablePath: string
  /** Libraries that a machine without any browser may lack. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The Chromium of `@sparticuz/chromium`, unpacked once into the folder for temporary files (200 MB). Not by the package's own code, which writes to fixed
 * names there, so that a second process would start a half-written file.
 */
export async function packedChromium(): Promise<Unpacked> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const packed = join(dirname(main), '../../bin')
  const { version } = JSON.parse(readFileSync(join(packed, '../package.json'), 'utf8')) as { version: string }
  const { uid } = userInfo()
  const folder = join(tmpdir(), `belay-chromium-${version}-${uid}`)
  if (!existsSync(folder)) {
    const fresh = await mkdtemp(`${folder}-`)
    const unpacked = (name: string) => brotliDecompressSync(readFileSync(join(packed, name)))
    await writeFile(join(fresh, 'chromium'), unpacked('chromium.br'), { mode: 0o700 })
    await writeFile(join(fresh, 'lib.tar'), unpacked('al2023.tar.br'))
    execFileSync('tar', ['-xf', 'lib.tar'], { cwd: fresh })
    // Another process may have been first.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }))
  }
  // Everybody may write there.
  if (statSync(folder).uid !== uid) throw new Error(`${folder} belongs to somebody else: remove it.`)
  return {
    executablePath: join(folder, 'chromium'),
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, 'lib') },
  }
}
