const noValue = /\s|<[^>]*>|^\/|^\.{1,2}\/|^[a-z][a-z0-9+]{1,20}:\/\/|\*{3}|\.\.|…|x{4}/i;

const words = `a access admin an api app at auth authorization aws base basic bar baz bearer bot change client
  credential credentials db default demo dev development disabled dummy empty enabled enter
  example fake false foo for goes guest here host in insert invalid is it jwt key keys local me
  mine minio mock mongo my mysql name none not null oauth of optional or our pass passwd phrase
  placeholder postgres postgresql private prod production proxy public pw pwd rabbitmq read
  redacted redis replace required root sample sa secret secrets secure set some string super
  test testing the this to todo token tokens true undefined unset unused use user value with
  word write x your`;
const plainWords = new RegExp(`^(?:${words.split(/\s+/).join('|')})+$`, 'i');

export function isPlaceholder(value: string): boolean {
  return noValue.test(value) || /^[\d.,:_-]*$/.test(value) || isExample(value);
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';
const digits = '01234567890123456789';
const exampleText = new RegExp(
  [
    'example|changeme|placeholder|redacted|a1b2c3d4|1234567890|0123456789',
    ...Array.from({ length: 19 }, (_, at) => alphabet.slice(at, at + 8)),
  ].join('|'),
  'i',
);

export function isExample(text: string): boolean {
  return isPattern(text) || isWords(text);
}

/**
 * True for a repeated character or group, ascending letters and digits, a part of the alphabet, and
 * a word such as “example”.
 */
export function isPattern(text: string): boolean {
  return (
    // Runs of `A` don't count here, because some tokens contain zeros in Base64.
    /([^A/])\1{7}|(?!AA)([A-Za-z0-9]{2,3})\2{5}/.test(text) ||
    exampleText.test(text) ||
    text.split(/[^A-Za-z0-9*#]+/).every(isRepeated) ||
    (alphabet.includes(text.replace(/[^A-Za-z]+/g, '').toLowerCase()) &&
      digits.includes(text.replace(/\D+/g, '')))
  );
}

function isRepeated(value: string): boolean {
  return /^(.?)\1*$/.test(value);
}

/** Words may follow each other directly, as in `proxypass`. */
function isWords(value: string): boolean {
  const words = value.split(/[^A-Za-z]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => word.length <= maxWordLength && plainWords.test(word));
}

/**
 * Some texts, such as `keysa`, can be split into words in two ways. The limit bounds backtracking.
 */
const maxWordLength = 64;
