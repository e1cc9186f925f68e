import { parentPort } from 'node:worker_threads';
import { factsOf, type FileFacts, type Pace } from './fileFacts.ts';

/** Files of one folder (ends in a separator) to ask about; their names with `/` between, as one string costs least to send. */
export interface FactsQuestion {
  readonly folder: string;
  readonly names: string;
}

/** Facts in the order of the questions: bytes, for an executable file `-1 - bytes`; where there are none, `others` says why. */
export interface FactsAnswer {
  readonly sizes: Float64Array<ArrayBuffer>;
  readonly others: ReadonlyMap<number, string>;
}

/** The worker's life: questions in, answers out, in order. */
function serve(port: NonNullable<typeof parentPort>): void {
  const pace: Pace = { slow: false };
  let work = Promise.resolve();
  port.on('message', (questions: readonly FactsQuestion[]) => {
    work = work.then(async () => {
      const facts: FileFacts[] = [];
      for (const { folder, names } of questions)
        facts.push(...(await factsOf(folder, names.split('/'), pace)));
      const answer = toAnswer(facts);
      port.postMessage(answer, [answer.sizes.buffer]);
    });
  });
}

function toAnswer(facts: readonly FileFacts[]): FactsAnswer {
  const sizes = new Float64Array(facts.length);
  const others = new Map<number, string>();
  for (const [index, fact] of facts.entries()) {
    if (typeof fact === 'string') {
      sizes[index] = NaN;
      others.set(index, fact);
    } else sizes[index] = fact.isExecutable ? -1 - fact.bytes : fact.bytes;
  }
  return { sizes, others };
}

if (parentPort !== null) serve(parentPort);
