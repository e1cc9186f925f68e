import { putOffsets, zipEnd, ZipBuilder } from '../../upload/archive/zip.ts';
import { hasAllFindings } from '../chooseRun.ts';
import { type ShownRun, toTriageSubjects } from '../shownFinding.ts';
import { formatLine } from '../triage/book.ts';
import { asDecided, isUndecided } from '../triage/triage.ts';
import { bundleSchema } from './readContent.ts';

const mode = 0o644;

/** These members name files and a run of this machine, so a bundle doesn't have them. */
const unbound = { sharedAs: undefined, from: undefined, onlyIn: undefined };

export interface BundleFile {
  readonly path: string;
  readonly content: Buffer;
}

/** A bundle has source code only where findings and the report quote it. */
export function toBundle({ run, shown }: ShownRun, artifacts: readonly BundleFile[]): readonly BundleFile[] {
  const facts = bundleSchema.parse({
    kind: 'whitebox-assessment-bundle',
    version: 1,
    run: { ...run, endedEarly: hasAllFindings(run) ? undefined : true },
  });
  const decisions = shown
    // The findings file already has a tool's decision.
    .filter(({ triage }) => !isUndecided(triage) && triage.via !== 'tool')
    .flatMap((each) =>
      toTriageSubjects(each)
        .slice(0, 1)
        // The decision may be about another findings file: `subject` replaces its file and index.
        .map((subject) => ({ ...asDecided(each.triage), ...subject, ...unbound }))
        .map((entry) => `${formatLine(entry)}\n`),
    );
  return [
    { path: 'bundle.json', content: Buffer.from(`${JSON.stringify(facts, undefined, 1)}\n`) },
    ...artifacts,
    { path: 'triage.jsonl', content: Buffer.from(decisions.join('')) },
  ];
}

export function zipBundle(files: readonly BundleFile[]): Buffer {
  const zip = new ZipBuilder();
  for (const { path, content } of files) zip.add({ path, mode }, content);
  const segment = zip.take();
  if (segment === undefined) throw new Error('A bundle has files');
  const central = putOffsets(segment.central, segment.offsets, 0);
  return Buffer.concat([segment.data, central, zipEnd(files.length, segment.data.length, central.length)]);
}
