import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { checkLinks } from '../src/check-links.mjs'
import { diagrams } from '../src/diagrams.mjs'
import { githubSlug } from '../src/github-slug.mjs'
import { pageLinks } from '../src/page-links.mjs'
import { navigation, PAGES, sidebars } from '../src/pages.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

// The address below which the site is served, such as /belay/: its own host needs none.
const base = process.env['SITE_BASE'] ?? '/'

/**
 * Pages stand outside this folder, where no Vue is found from. Rendered on the server they use the one that renders the site.
 * @type {import('vite').Plugin}
 */
const vueOfSite = {
  name: 'vue-of-site',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined),
}

export default defineConfig({
  title: 'Belay',
  description: 'Durable DAG workflows on PostgreSQL for TypeScript, with automatic rollback',
  base,
  lang: 'en',
  // The pages are the repository's own Markdown, where it stands: GitHub and the site show the same files.
  srcDir: root,
  srcExclude: PAGES.excluded,
  rewrites: PAGES.rewrites,
  outDir: fileURLToPath(new URL('../dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../node_modules/.cache/vitepress', import.meta.url)),
  cleanUrls: true,
  markdown: {
    anchor: { slugify: githubSlug },
    config(markdown) {
      markdown.use(pageLinks, { root })
      markdown.use(diagrams)
    },
  },
  themeConfig: {
    nav: navigation(),
    sidebar: sidebars(),
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    docFooter: { prev: 'Before', next: 'Next' },
  },
  vite: {
    plugins: [vueOfSite],
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    server: { fs: { allow: [root] } },
    build: { chunkSizeWarningLimit: 4_000 },
  },
  buildEnd: ({ outDir }) => checkLinks(outDir, base),
})
