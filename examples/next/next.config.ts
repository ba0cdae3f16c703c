import { fileURLToPath } from 'node:url'
import type { NextConfig } from 'next'

export default {
  // Loaded by Node and not bundled: a bundle would hold a copy of them for each route.
  serverExternalPackages: ['@belay/workflow', '@belay/workflow-postgres'],
  // Only this example needs it: it takes Belay from the folders of this repository. You install Belay from npm.
  turbopack: { root: fileURLToPath(new URL('../..', import.meta.url)) },
} satisfies NextConfig
