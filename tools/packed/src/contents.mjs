/** @typedef {{ dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, devDependencies?: Record<string, string> }} Manifest */

/**
 * What is wrong with the contents of a tarball, one sentence each.
 * @param {{ files: readonly string[], manifest: Manifest }} tarball
 */
export function contentProblems({ files, manifest }) {
  const has = new Set(files)
  const declared = files.filter((file) => /^dist\/.*\.d\.ts$/.test(file))
  const bundled = files.filter((file) => /^bundle\/.*\.c?js$/.test(file))
  return [
    ...['LICENSE', 'README.md'].filter((file) => !has.has(file)).map((file) => `has no ${file}`),
    ...(declared.length === 0 ? ['has nothing in dist: build it first (npm run build)'] : []),
    ...(bundled.length === 0 ? ['has nothing in bundle: build it first (npm run build)'] : []),
    ...files
      .filter((file) =>
        /\.tsbuildinfo$|^dist\/.*\.js(\.map)?$|(^|\/)node_modules\/|\.test\.|^test\//.test(file),
      )
      .map((file) => `contains ${file}, which users do not need`),
    // The compiler never deletes: output of a moved source would be published for ever.
    ...declared
      .filter((file) => !has.has(file.replace(/^dist\/(.*)\.d\.ts$/, 'src/$1.ts')))
      .map((file) => `contains ${file}, whose source is gone: npm run clean && npm run build`),
    ...workspaceRanges(manifest),
  ]
}

/** @param {Manifest} manifest */
function workspaceRanges(manifest) {
  const sections = [
    manifest.dependencies,
    manifest.peerDependencies,
    manifest.optionalDependencies,
    manifest.devDependencies,
  ]
  return sections.flatMap((section) =>
    Object.entries(section ?? {})
      .filter(([, range]) => /^(workspace|file|link|catalog):/.test(range))
      .map(([name, range]) => `asks for ${name} as "${range}", which means nothing outside this repository`),
  )
}
