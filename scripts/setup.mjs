import './require-node.mjs'
import { build } from './build.mjs'
import { installIfNeeded } from './install.mjs'
import { isMain } from './main-module.mjs'
import { root } from './root.mjs'

/**
 * Everything between a fresh clone and a working tree: dependencies, then the packages' build. Quick and offline when nothing changed; nothing at all within
 * CI, which has set this folder up, and whose stages run side by side: what one builds, another would miss meanwhile.
 */
export async function setUp() {
  if (process.env['BELAY_SET_UP'] === root) return
  await installIfNeeded()
  await build()
}

if (isMain(import.meta.url)) await setUp()
