import './require-node.mjs'
import { build } from './build.mjs'
import { installIfNeeded } from './install.mjs'
import { isMain } from './main-module.mjs'

/** Everything between a fresh clone and a working tree: dependencies, then the packages' build. Quick and offline when nothing changed. */
export async function setUp() {
  await installIfNeeded()
  await build()
}

if (isMain(import.meta.url)) await setUp()
