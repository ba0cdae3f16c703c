import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The reader's path. A page that is not named here stands under "More"; a name without a page is left out.
 * @type {readonly { text: string; collapsed?: boolean; pages: readonly (readonly [path: string, text: string])[] }[]}
 */
const CHAPTERS = [
  {
    text: 'Start',
    pages: [
      ['README.md', 'Overview'],
      ['docs/quick-start.md', 'Quick start'],
      ['docs/playground.md', 'The playground'],
      ['docs/concepts.md', 'Concepts'],
      ['docs/patterns.md', 'Patterns'],
      ['docs/frameworks.md', 'Web frameworks'],
      ['examples/README.md', 'Examples'],
    ],
  },
  {
    text: 'Write workflows',
    pages: [
      ['docs/steps.md', 'Steps'],
      ['docs/branches.md', 'Branches'],
      ['docs/maps.md', 'Maps'],
      ['docs/loops.md', 'Loops'],
      ['docs/flow-control.md', 'Flow control'],
      ['docs/children.md', 'Children'],
      ['docs/waits.md', 'Waits and signals'],
      ['docs/starts.md', 'Collected starts'],
      ['docs/schedules.md', 'Schedules'],
      ['docs/failures.md', 'Failures'],
      ['docs/sagas.md', 'Sagas'],
      ['docs/transactions.md', 'Transactions'],
      ['docs/progress.md', 'Progress'],
      ['docs/priorities.md', 'Priorities'],
      ['docs/testing.md', 'Testing'],
    ],
  },
  {
    text: 'Run them',
    pages: [
      ['docs/engine.md', 'Engine and adapters'],
      ['docs/deployment.md', 'Deployment'],
      ['docs/database.md', 'Database and pool'],
      ['docs/cli.md', 'The command line'],
      ['docs/dashboard.md', 'The dashboard'],
      ['docs/operations.md', 'Operations'],
      ['docs/observability.md', 'Observability'],
      ['docs/hooks.md', 'Hooks'],
      ['docs/control.md', 'Acting on runs'],
      ['docs/versions.md', 'Versions'],
      ['docs/upgrading.md', 'Upgrading'],
      ['docs/faq.md', 'Something is wrong'],
      ['docs/errors.md', 'Errors'],
    ],
  },
  {
    text: 'Decide',
    pages: [
      ['docs/comparison.md', 'Comparison'],
      ['docs/speed.md', 'Speed'],
      ['docs/moving-over.md', 'Moving over'],
      ['docs/failure-modes.md', 'Failure modes'],
      ['bench/README.md', 'How we measure'],
      ['bench/results/results.md', 'Measurements'],
    ],
  },
  {
    text: 'Work on Belay',
    collapsed: true,
    pages: [
      ['ARCHITECTURE.md', 'Architecture'],
      ['CONTRIBUTING.md', 'Contributing'],
      ['docs/extending/write-an-adapter.md', 'Write an adapter'],
      ['docs/extending/add-a-verb.md', 'Add a verb'],
      ['docs/extending/add-a-step-kind.md', 'Add a kind of step'],
      ['CHANGELOG.md', 'Changelog'],
    ],
  },
  {
    text: 'Internals',
    collapsed: true,
    pages: [
      ['docs/internals/glossary.md', 'Glossary'],
      ['docs/internals/rooms.md', 'Rooms'],
      ['docs/internals/runs.md', 'Runs'],
      ['docs/internals/workers.md', 'Workers'],
      ['docs/internals/locks.md', 'Locks'],
      ['docs/internals/maps-loops-children.md', 'Maps, loops, children'],
      ['docs/internals/starts-schedules-priorities.md', 'Starts, schedules, priorities'],
      ['docs/internals/limits.md', 'Limits'],
      ['docs/internals/user-code.md', 'Functions of the user'],
      ['docs/internals/speed.md', 'Speed'],
    ],
  },
]

/** @type {readonly (readonly [path: string, text: string])[]} */
const NAVIGATION = [
  ['docs/quick-start.md', 'Quick start'],
  ['docs/patterns.md', 'Patterns'],
  ['site/api/index.md', 'API'],
  ['docs/errors.md', 'Errors'],
  ['CHANGELOG.md', 'Changelog'],
]

const API = 'site/api'
const OTHER_PAGES = ['bench/results/flat.md']

const REWRITES = { 'README.md': 'index.md', [`${API}/:rest*`]: 'api/:rest*' }

const found = markdownFiles()
const pages = new Set(found)

export const PAGES = {
  rewrites: REWRITES,
  /** Everything in the repository that is not a page, for a tool that takes every Markdown file. */
  excluded: [
    '**/node_modules/**',
    '**/.*/**',
    '**/dist/**',
    'packages/**',
    'tools/**',
    'migrations/**',
    'bench/peers/**',
    'site/*.md',
  ],
}

/** @param {string} file a path in the repository */
export function isPage(file) {
  return pages.has(file)
}

/**
 * @param {string} file a path in the repository
 * @returns {string} its path on the site
 */
export function publishedPath(file) {
  if (file === 'README.md') return 'index.md'
  return file.startsWith(`${API}/`) ? file.slice('site/'.length) : file
}

export function navigation() {
  const pages = NAVIGATION.filter(([path]) => isPage(path)).map(([path, text]) => ({
    text,
    link: linkTo(path),
  }))
  // No page of VitePress: the browser has to load it. `scripts/site.mjs` puts it there.
  return [...pages, { text: 'Playground', link: '/playground/', target: '_self' }]
}

/** The pages have one sidebar, the reference of the interface another. */
export function sidebars() {
  return { '/api/': apiSidebar(), '/': sidebar() }
}

export function sidebar() {
  const named = new Set(CHAPTERS.flatMap(({ pages }) => pages.map(([path]) => path)))
  const more = found.filter((path) => path.startsWith('docs/') && !named.has(path))
  const chapters = CHAPTERS.map(({ pages, ...chapter }) => ({
    ...chapter,
    items: pages.filter(([path]) => isPage(path)).map(([path, text]) => ({ text, link: linkTo(path) })),
  }))
  const rest = { text: 'More', items: more.map((path) => ({ text: titleOf(path), link: linkTo(path) })) }
  return [...chapters, ...(more.length > 0 ? [rest] : [])]
}

// Interfaces and types are many: the page of the entry point lists them, and search finds them.
const KINDS = ['functions', 'classes']

/** For each entry point of a package its page, its functions and its classes. */
function apiSidebar() {
  const entries = found.filter((path) => path.startsWith(`${API}/@belay/`) && path.endsWith('/index.md'))
  // What everybody needs comes first.
  const isCore = (/** @type {string} */ path) => path === `${API}/@belay/workflow/index.md`
  return [...entries.filter(isCore), ...entries.filter((path) => !isCore(path))].map((path) => {
    const folder = dirname(path)
    const kinds = KINDS.map((kind) => ({
      text: kind.replace('-', ' '),
      items: found
        .filter((each) => dirname(each) === `${folder}/${kind}`)
        .map((each) => ({ text: basename(each, '.md'), link: linkTo(each) })),
    }))
    return {
      text: folder.slice(API.length + 1),
      link: linkTo(path),
      items: kinds.filter(({ items }) => items.length > 0),
    }
  })
}

/** @param {string} path */
function linkTo(path) {
  return `/${publishedPath(path).replace(/(index)?\.md$/, '')}`
}

/** @param {string} path */
function titleOf(path) {
  return /^# (.*)$/m.exec(readFileSync(join(root, path), 'utf8'))?.[1] ?? path
}

function markdownFiles() {
  return [
    ...markdownIn('docs'),
    ...CHAPTERS.flatMap(({ pages }) => pages.map(([path]) => path)).filter(
      (path) => !path.startsWith('docs/'),
    ),
    ...OTHER_PAGES,
    ...(existsSync(join(root, API)) ? markdownIn(API) : []),
  ]
}

/** @param {string} folder */
function markdownIn(folder) {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return files
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path).replaceAll('\\', '/'))
    .sort()
}
