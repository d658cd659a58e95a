"""What no command does is named in a line, before anything is started or written."""

from typing import Final

import pytest

from tests.host.refusals import Named, refusals

# The beginning of a command; how it may go on, and what is said of that.
REFUSED: Final = """\
budget
    --build C => build is 'C'; allowed are A, B
    --build= => build is ''; allowed are A, B
    --build A --dac pcm5102a => --transducer is missing, and --dac is given; allowed are tdh39
    --transducer tdh => --transducer is 'tdh'; allowed are tdh39, er3a-10, er3a-50, hda280
    --transducer tdh39 => --attenuator OHM is missing, and so is --build; one of them is wanted
budget --transducer tdh39 --attenuator 120
    --build= => build is ''; allowed are A, B
    --dac= => --dac is ''; allowed are pcm5100a
    --dac uda1334 => --dac is 'uda1334'; allowed are pcm5100a, pcm5101a, pcm5102a
    --gain lm386 => gain is 'lm386'; allowed are none, opa1622, opa1688, tpa6120a2, with a gain
    --gain 90 => gain is 90 dB; allowed is -40 to 40 dB
    --gain tpa6120a2 --supply 3 => --supply is 3; allowed is 5 to 15
    --supply 5 => --supply is of an amplifier, and --gain is none
    --dac-resistor -1 => --dac-resistor is -1; allowed is 0 to 100000
    --attenuator nan => --attenuator is nan; allowed is 0 to 100000
install-board /dev/none
    --limit-left 1 => limit_dbfs_left is 1.0, allowed are -160.0 to 0; nothing was installed
    --build A => --build and --transducer: both are wanted, or none
    --build A --transducer dd45 => transducer is 'dd45'; allowed are tdh39, er3a-10
    --build C --transducer tdh39 => build is 'C'; allowed are A, B; nothing was installed
    --build A --transducer tdh39 --limit-left -2 => --limit-left is -2 dBFS; allowed with --build \
A and tdh39 are -3.5 dBFS at most
    --build B --transducer tdh39 --limit-right nan => --limit-right is nan dBFS; allowed with
calibrate /dev/none -o c.toml
    --loud 1 => --loud is 1 dBFS; allowed is -70 to -41 dBFS (the first limit of a build that is not
    --limit 0 --soft -30 --loud 1 => --loud is 1 dBFS; allowed is -20 (10 dB above --soft) to 0 dBFS
    --limit 0 --soft -9 => --soft is -9 dBFS; allowed is -120 to -10 dBFS
    --build B --soft -30 => --soft is -30 dBFS; allowed is -120 to -31 dBFS, 10 dB below the first
    --limit 1 => --limit is 1 dBFS; allowed is -70 to 0 dBFS, full scale: no build is louder
    --limit -72.5 => --limit is -72.5 dBFS; allowed is -70 to 0 dBFS
    --build C => --build: build is 'C'; allowed are A, B; --limit says one without a build
    --build B --transducer hda200 => --build: transducer is 'hda200'; allowed are tdh39, er3a-10
    --vibrator b71 --no-coupler => --vibrator needs a coupler: leave it out, or --no-coupler
    --due-days 900 => --due-days is 900; allowed is 1 to 731
    --transducer tdh => transducer is 'tdh'; allowed are dd45, dd65v2, er3a
    --console socket://x => one console is needed: PORT, or --console URL
calibrate /dev/none -o
    there.toml => is there already; it is not overwritten without --force
    directory.toml --force => directory.toml' is there already
    LONG.toml --force => cannot be written: File name too long
    nowhere/c.toml --force => allowed is a name in .toml, in a directory that is there
    c.json --force => allowed is a name in .toml
listen
    --limit-dbfs 1 => --limit-dbfs is 1 dBFS; allowed is -160 to 0 dBFS
    --limit-dbfs nan => --limit-dbfs is nan dBFS; allowed is -160 to 0 dBFS
    --test --limit-dbfs -100 => so level_max_db_hl is 32.0; allowed are numbers from 40
    --wav x.wav --device 1 => --wav and --device: one of them is allowed
    --test --age 200 => age
    --wav there.wav => is there already; it is not overwritten
    --wav played.mp3 => --wav is 'played.mp3'; allowed is a name in .wav, in a directory that is
    --wav no/such/played.wav => --wav is 'no/such/played.wav'; allowed is a name in .wav, in a
page
    => one of PORT, -o FILE.html, --guide and --simulated is wanted; gp-pta page --simulated
    /dev/null -o operator.html => one of PORT, -o FILE.html, --guide and --simulated is wanted
    -o operator.html --language de => --language is an option of --guide
    --guide --simulated => --guide goes with no PORT, --simulated or --order
    --guide --order a.gdt => --guide goes with no PORT, --simulated or --order
    --guide -o guide.txt => guide.txt
    /dev/null --simulated => one of PORT, -o FILE.html, --guide and --simulated is wanted
    /dev/null --routes air,bone => --routes is an option of --simulated, which is not there
    --simulated --speed 0 => --speed is 0; allowed is 0.1 to 1000
    --simulated --audiogram X9 => no audiogram is called 'X9', allowed are N1, N2
    --simulated --data /dev/null/sessions => data directory '/dev/null/sessions' cannot be
    /dev/null --listen 70000 => --listen is 70000; allowed are 0 to 65535
    -o operator.txt => allowed is a name in .html
    -o there.html => is there already
    -o operator.html --order o.gdt => --order is of a page that is served; -o writes one of nobody
    --simulated --order no.gdt => no.gdt: cannot be read
export
    => --format is missing; allowed are csv, json, fhir, gdt, parquet
export BOTH
    => --format is missing; allowed are csv, json, fhir, gdt, parquet
    --format parquet => parquet is no text
    -o out.txt => --format is missing and -o 'out.txt' does not tell it
    --schema -o out.txt => allowed is a name in .json
    --format csv -o out.json => allowed is a name in .csv
    -o nowhere/out.csv => in a directory that is there
    -o there.csv => is there already; it is not overwritten without --force
    --format csv --separator comma --decimal comma => no program could tell one number from two; \
beside --decimal comma allowed is --separator semicolon, tab
    --format json --tidy => --tidy is of csv; the format is json
    --format fhir --decimal comma => --decimal is of csv
    --answers => --format is missing
    --answers --format parquet => parquet is no text
    --answers --format json => --answers is of csv, parquet; the format is json
    --answers -o answers.json => --answers is of csv, parquet; the format is json
    --answers --format csv -o answers => allowed is a name in .csv
    --answers --convention 50 -o answers => --convention is of thresholds; --answers has what was
    --answers --decimal comma -o answers => --decimal is of csv; the format is parquet
    --answers -o nowhere/answers => -o is 'nowhere/answers'; allowed is a name in a directory that
    --answers -o / => -o is '/'; allowed is a name in a directory that is there
    --answers -o directory.toml => is there already; it is not overwritten without --force
    --answers -o there.toml --force => --format is missing and -o 'there.toml' does not tell it
    --answers -o LONG => cannot be written: File name too long
report LEFT
    -o r.jpg => -o is 'r.jpg'; allowed is a name in .html, .png, .svg, .pdf
    -o no/r.html => in a directory that is there
    -o there.html => -o 'there.html' is there already; it is not overwritten without
demo
    --audiogram X9 => no audiogram is called 'X9', allowed are N1, N2
    --audiogram there.txt => audiogram 'there.txt' is a table; allowed is a row of it, such as \
there.txt:1
    --audiogram there.txt:1 --columns x => --columns 'x': No such file or directory; allowed are
    --audiogram none.csv:1 => none.csv: cannot be read: No such file or directory
    --seed -1 => seed is -1, allowed are 0 to
    --speed 0 => --speed is 0; allowed is 0.1 to 1000
    --speed nan => --speed is nan; allowed is 0.1 to 1000
    --board emulated --speed 2 => --speed is 2; allowed with the emulated board is 0.1 to 1
    --lapse-rate 2 => lapse_rate is 2.0, allowed are 0 to 1
    --response-time 9 => response_time_s is 9.0, allowed are 0.15 to 5 s
    --unsure-half-width -1 => unsure_half_width_db is -1.0, allowed is 0 and more
    --air-bone-gap much => --air-bone-gap is 'much'; allowed is a number for both ears
    --air-bone-gap 5,6,7 => --air-bone-gap is '5,6,7'; allowed is a number for both
    --air-bone-gap 0,-3 => air_bone_gap_db is -3.0, allowed is 0 and more
    --age 121 => age_years is 121.0; allowed are numbers from 0 to 120 years
    --age nan => age_years is nan; allowed are numbers from 0 to 120 years
    --sex X => sex is 'X'; allowed are F and M
    --faults loss=.1 => --faults: faults are 'loss=.1', allowed are NAME=RATE
    --faults drop=.9 => --faults: drop is 0.9, allowed are 0 to 0.5 a line
    --picture x.png => --picture is 'x.png'; allowed is a name in .svg
    --picture LONG.svg => cannot be written: File name too long
    --out /dev/null/sessions => --out '/dev/null/sessions' cannot be made: Not a dir
    --listener deaf => no kind of listener is called 'deaf', allowed are honest
    --listener deaf => noisy=DB, lapses=P
    --audiogram iland => no audiogram is called 'iland'
simulate
    --clock time => --clock is for --board emulated; a simulated board's time is this machine's
    --clock there.txt --board emulated => --clock 'there.txt' is there already, and is not \
overwritten; remove it if it is old
    --listener deaf => no kind of listener is called 'deaf', allowed are honest
    --audiogram iland => island, narrow-notch, cookie-bite, reverse, tent, corner, cliff
workbench --data data
    --speed 0 => --speed is 0; allowed is 0.1 to 1000
    --listener deaf => no kind of listener is called 'deaf', allowed are honest
    --audiogram iland => no audiogram is called 'iland'
prescribe LEFT
    --columns t500=a => --columns is of a table; allowed is --audiogram or --discomfort with it
    --ear right => the right ear was not tested; tested: left
    -o gain.doc => allowed is a name in .svg, .pdf, .png, .json, .fit, .cfg, .txt
    -o nowhere/gain.svg => in a directory that is there
    -o there.svg => is there already; it is not overwritten without --force
prescribe BOTH --tuning TUNING
    -o sheet.fit => -o is sheet.fit; with --tuning allowed are .svg, .pdf, .png
    => -o is missing; with --tuning allowed are
    -o a.svg --json => --tuning and --json: one of them is allowed
    -o a.svg --against nal-rp => --tuning and --against: one of them is allowed
replay LEFT
    --profile best => profile is 'best'; allowed are default, gp-pta-2015
    --noise 99 => response_noise_db is 99.0; allowed is 0.1 to 30
    --noise 0 => response_noise_db is 0.0; allowed is 0.1 to 30
    --prior nowhere.json => nowhere.json: cannot be read: No such file
    --prior LEFT => left-ear-s2.journal: is not JSON
    --prior PRIOR --profile gp-pta-2015 => profile gp-pta-2015 makes no use of a prior
    --picture out.svg => --picture draws two models; name the other
    --noise 3 --picture out.gif => --picture is 'out.gif'; allowed is a name in
    --noise 3 --picture there.svg => is there already; it is not overwritten without --force
    BOTH --noise 3 --picture out.svg => --picture is of one journal; there are 2
    BOTH --profile best => profile is 'best'; allowed are default
replay
    directory.toml => no journals in 'directory.toml'
sessions GOLDEN
    -o p.html => -o writes a page of people; it needs --people
    --people -o p.png => -o is 'p.png'; allowed is a name in .html
    --people --export p.csv => --people and --export do not go together
    --rules => --rules is of people; it needs --people
    --baseline a.journal => --baseline is of people; it needs --people
    --people --baseline a.journal => --baseline is 'a.journal', which is none of the sessions chosen
    --people --identifier nobody -o p.html => is of anybody: nothing was
    --since 1.2.2026 => --since is '1.2.2026'; allowed is a day such as 2026-01-31
    --since 2026-02-30 => --since is '2026-02-30'; allowed is a day such as 2026-01-31
    --since 20260201 => --since is '20260201'; allowed is a day such as 2026-01-31
    --since 2026-W05-1 => --since is '2026-W05-1'; allowed is a day such as 2026-01-31
    --since 2026-02-01 --until 2026-01-31 => --since 2026-02-01 is after --until 2026-01-31
sessions
    none => 'none' cannot be read: No such file or directory
"""


@pytest.mark.parametrize(("command", "words"), refusals(REFUSED))
def test_what_is_not_allowed_is_named_and_nothing_is_written(
    command: str, words: str, refuse_by_name: Named
) -> None:
    refuse_by_name(command, words)
