//! Tests of tables: columns, blank cells and figures.

use crate::common;
use crate::common::{CONV, DENSE};
use guardbit_reports::{
    ChannelRow, Decibel, EventRow, LayerRow, LevelHistogram, PointRecord, RequiredBitsRow, Row,
    SizeChannelRow, SizeRow, Stored, SummaryRow, SweepRow, TABLES, View, Width, channel_rows, columns_text,
    event_rows, layer_rows, layers_text, size_text, summary_text, sweep_rows, write_csv,
};
use guardbit_sim::StatsLevel;

const LAYERS: &str = "index,layer,op,level,bits,overflow,dots,terms,adds,events,events_high,events_low,outputs_touched,\
                      persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,\
                      sum_abs_err,max_abs_err,output_mismatch,sqnr_db,cycles,first_event_cycle,product_events,bias_events,\
                      compute_cycles,stall_cycles,utilization,sram_bytes,dram_bytes,time_us,\
                      stall_sram_cycles,stall_dram_cycles,\
                      exact_required_final,exact_required_prefix,name";

fn csv<R: Row>(rows: &[R]) -> String {
    String::from_utf8(write_csv(rows).unwrap()).unwrap()
}

/// Shortens the names of converters, so that lines stay readable.
fn short(table: &str) -> String {
    table.replace(CONV, "CONV").replace(DENSE, "DENSE")
}

#[test]
fn columns_are_those_of_the_format() {
    let channels = "index,layer,level,channel,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,\
                    transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,\
                    max_abs_err,output_mismatch,product_events,bias_events,name";
    let events = "sample,index,layer,level,out_n,out_h,out_w,out_c,run,k,held,addend,exact,direction,cycle,pe_row,pe_col,stored,name";
    let summary = "bits,overflow,level,mode,samples,top1_agreement,accuracy_exact,accuracy,output_mismatch,\
                   output_sqnr_db,events,persistent,transient,wrong,cycles,model,hw,not_swept,trapped,\
                   accuracy_low,accuracy_high,accuracy_exact_low,accuracy_exact_high,agreement_low,agreement_high,\
                   lost,gained,mcnemar_p,mcnemar_test,task,output_mse,mse_exact,mse,auc_exact,auc,agreeing,right_exact,right,\
                   host_cycles,overlapped_cycles,cross_entropy_exact,cross_entropy";
    assert_eq!(csv::<LayerRow>(&[]), format!("{LAYERS}\n"));
    assert_eq!(csv::<ChannelRow>(&[]), format!("{channels}\n"));
    assert_eq!(csv::<EventRow>(&[]), format!("{events}\n"));
    assert_eq!(csv::<SummaryRow>(&[]), format!("{summary}\n"));
    let point = "model,hw,point_bits,point_overflow,point_level";
    assert_eq!(csv::<SweepRow>(&[]), format!("{point},{LAYERS}\n"));
    let size = "index,layer,op,terms,channels,bits_type,bits_weights,bits_a2q,bits_a2q_plus,bits_data_final,\
                bits_data_prefix,bits_budget,";
    assert!(csv::<SizeRow>(&[]).starts_with(size));
    assert!(csv::<SizeChannelRow>(&[]).starts_with(&size.replace("channels", "channel")));
}

/// Cells that a spreadsheet would evaluate are escaped; numbers are kept.
#[test]
fn texts_are_no_formulas() {
    let mut rows = common::run_record(StatsLevel::Full).layers;
    rows.truncate(1);
    rows[0].min_prefix = Some(-7);
    for (name, cell) in [
        ("=1+2", "'=1+2"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@a", "'@a"),
        ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
        ("a=1", "a=1"),
        ("a\u{1b}[2Jb\u{202e}c", "a\u{fffd}[2Jb\u{fffd}c"),
        ("-1", "-1"),
    ] {
        rows[0].layer = name.into();
        let table = csv(&rows);
        assert!(table.contains(&format!("\n{},{cell},", rows[0].index)), "{table}");
        assert!(table.contains(",-7,"), "{table}");
    }
}

/// The tables of plots agree with `layers.csv`: every dot product is counted by its bits, those that need
/// more than the width are persistent or transient, and every event is counted in its interval of cycles and
/// at its processing element.
#[test]
fn tables_of_plots_add_up_to_layers() {
    let run = common::run_record(StatsLevel::Full);
    assert!(run.layers.iter().any(|row| row.persistent > Some(0)), "something overflows");
    for row in &run.layers {
        let own = |histogram: &&LevelHistogram| histogram.index == row.index && histogram.level == row.level;
        let bits: Vec<RequiredBitsRow> = run.histograms.iter().find(own).unwrap().rows().collect();
        let sum = |sums: &str, from: usize| -> u64 {
            bits.iter().filter(|one| one.sums == sums && one.bits >= from).map(|one| one.dots).sum()
        };
        assert_eq!([sum("final", 0), sum("prefix", 0)], [row.dots; 2]);
        let width = row.bits.bits().unwrap() as usize;
        assert_eq!(Some(sum("final", width + 1)), row.persistent);
        assert_eq!(Some(sum("prefix", width + 1)), row.persistent.zip(row.transient).map(|(a, b)| a + b));
    }
    for activity in &run.activity {
        let levels = run.layers.iter().filter(|row| row.index == activity.index);
        let events: u64 = levels.filter_map(|row| row.events).sum();
        assert_eq!(activity.timeline_rows().map(|row| row.events).sum::<u64>(), events);
        assert_eq!(activity.heat_map_rows().map(|row| row.events).sum::<u64>(), events);
    }
    // Intervals and places are those of the events.
    for event in &run.events {
        let activity = run.activity.iter().find(|activity| activity.index == event.index).unwrap();
        let part = activity.timeline_rows().filter(|row| row.first_cycle <= event.cycle).last().unwrap();
        assert_eq!(part.part as u64, event.cycle * 64 / activity.cycles);
        assert!(activity.heat_map_rows().any(|row| (row.pe_row, row.pe_col) == (event.pe_row, event.pe_col)));
    }
}

/// Fields of the rows have the names of their columns, in order.
#[test]
fn columns_are_the_fields() {
    fn names<R: Row>(row: &R, prefix: &str) {
        let json = serde_json::to_string(row).unwrap();
        let mut from = 0;
        for column in R::COLUMNS.iter().map(|column| column.name).filter(|column| column.starts_with(prefix))
        {
            let at = json[from..].find(&format!("\"{column}\":")).unwrap_or_else(|| panic!("{column}"));
            from += at + 1;
        }
    }
    let run = common::run_record(StatsLevel::Full);
    let point = common::point_record(12, "wrap", StatsLevel::Full);
    names(&run.layers[0], "");
    names(&run.channels[0], "");
    names(&run.events[0], "");
    names(&point.summary, "");
    names(&sweep_rows(&[point])[0], "");
    let size = common::size_record();
    names(&size.layers[0], "");
    names(&size.channels[0], "");
    names(&size.levels[0], "");
    names(&size.grid[0], "");
    names(&size.rates[0], "");
}

#[test]
fn layers_of_a_full_run() {
    let ran = common::run(StatsLevel::Full, "bits: 13, overflow: saturate");
    let rows = layer_rows(&ran.program, &ran.layers, &ran.layers, StatsLevel::Full);
    insta::assert_snapshot!(short(&csv(&rows)), @r"
    index,layer,op,level,bits,overflow,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,max_abs_err,output_mismatch,sqnr_db,cycles,first_event_cycle,product_events,bias_events,compute_cycles,stall_cycles,utilization,sram_bytes,dram_bytes,time_us,stall_sram_cycles,stall_dram_cycles,exact_required_final,exact_required_prefix,name
    0,CONV,conv2d,column,14,wrap,4,8,32,2,1,1,1,1,0,,,-12000,12000,15,15,,,,,,,,,,,,,,,,,15,15,conv2d_1
    0,CONV,conv2d,acc,13,saturate,4,8,8,1,0,1,1,0,1,1,0,0,12000,12,15,288,288,1,10.6296,123,106,0,0,18,105,0.00813,26,31,0.41,0,105,12,15,conv2d_1
    1,DENSE,fully_connected,column,14,wrap,6,2,12,0,0,0,0,0,0,,,-10,75,8,8,,,,,,,,,,,,,,,,,8,8,fully_connected
    1,DENSE,fully_connected,acc,13,saturate,6,2,6,0,0,0,0,0,0,0,0,0,75,8,8,0,0,3,13.3244,115,,0,0,12,103,0.003261,11,16,0.383333,0,103,8,8,fully_connected
    ");
}

#[test]
fn an_auto_level_has_no_events_but_extremes() {
    let ran = common::run(StatsLevel::Full, "bits: auto");
    let rows = layer_rows(&ran.program, &ran.layers, &ran.layers, StatsLevel::Full);
    assert_eq!((rows[1].bits, rows[1].overflow.as_deref()), (Width::Auto, None));
    assert_eq!((rows[1].events, rows[1].events_high, rows[1].events_low), (Some(0), Some(0), Some(0)));
    assert_eq!((rows[1].outputs_touched, rows[1].persistent, rows[1].transient), (Some(0), Some(0), Some(0)));
    assert_eq!((rows[1].min_prefix, rows[1].max_prefix), (Some(0), Some(12_000)));
    assert!(csv(&rows).contains(",acc,auto,,4,8,"));
    let channels = channel_rows(&ran.program, &ran.layers, StatsLevel::Full);
    assert_eq!((channels[2].events, channels[2].persistent), (Some(0), Some(0)));
}

#[test]
fn less_counting_leaves_blanks() {
    let rows = |stats| {
        let ran = common::run(stats, "bits: 13, overflow: saturate");
        short(&csv(&layer_rows(&ran.program, &ran.layers, &ran.layers, stats)[..2]))
    };
    insta::assert_snapshot!(rows(StatsLevel::Events), @r"
    index,layer,op,level,bits,overflow,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,max_abs_err,output_mismatch,sqnr_db,cycles,first_event_cycle,product_events,bias_events,compute_cycles,stall_cycles,utilization,sram_bytes,dram_bytes,time_us,stall_sram_cycles,stall_dram_cycles,exact_required_final,exact_required_prefix,name
    0,CONV,conv2d,column,14,wrap,4,8,32,2,1,1,1,1,,,,,,,,,,,,,,,,,,,,,,,,,,conv2d_1
    0,CONV,conv2d,acc,13,saturate,4,8,8,1,0,1,1,0,,1,0,,,,,288,288,1,10.6296,123,106,0,0,18,105,0.00813,26,31,0.41,0,105,,,conv2d_1
    ");
    insta::assert_snapshot!(rows(StatsLevel::None), @r"
    index,layer,op,level,bits,overflow,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,max_abs_err,output_mismatch,sqnr_db,cycles,first_event_cycle,product_events,bias_events,compute_cycles,stall_cycles,utilization,sram_bytes,dram_bytes,time_us,stall_sram_cycles,stall_dram_cycles,exact_required_final,exact_required_prefix,name
    0,CONV,conv2d,column,14,wrap,4,8,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,conv2d_1
    0,CONV,conv2d,acc,13,saturate,4,8,,,,,,,,,,,,,,,,1,10.6296,123,,,,18,105,0.00813,26,31,0.41,0,105,,,conv2d_1
    ");
}

#[test]
fn channels_of_a_run() {
    let rows = |stats| {
        let ran = common::run(stats, "bits: 13, overflow: saturate");
        short(&csv(&channel_rows(&ran.program, &ran.layers, stats)[..4]))
    };
    insta::assert_snapshot!(rows(StatsLevel::Full), @r"
    index,layer,level,channel,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,max_abs_err,output_mismatch,product_events,bias_events,name
    0,CONV,column,0,2,8,16,2,1,1,1,1,0,,,-12000,12000,15,15,,,,,,conv2d_1
    0,CONV,column,1,2,8,16,0,0,0,0,0,0,,,0,780,11,11,,,,,,conv2d_1
    0,CONV,acc,0,2,8,4,1,0,1,1,0,1,1,0,0,12000,1,15,288,288,1,0,0,conv2d_1
    0,CONV,acc,1,2,8,4,0,0,0,0,0,0,0,0,0,1080,12,12,0,0,0,0,0,conv2d_1
    ");
    insta::assert_snapshot!(rows(StatsLevel::None), @r"
    index,layer,level,channel,dots,terms,adds,events,events_high,events_low,outputs_touched,persistent,transient,wrong,harmless,min_prefix,max_prefix,required_final,required_prefix,sum_abs_err,max_abs_err,output_mismatch,product_events,bias_events,name
    0,CONV,column,0,2,8,,,,,,,,,,,,,,,,,,,conv2d_1
    0,CONV,column,1,2,8,,,,,,,,,,,,,,,,,,,conv2d_1
    0,CONV,acc,0,2,8,,,,,,,,,,,,,,,,1,,,conv2d_1
    0,CONV,acc,1,2,8,,,,,,,,,,,,,,,,0,,,conv2d_1
    ");
}

#[test]
fn channels_add_up_to_layers() {
    let run = common::run_record(StatsLevel::Full);
    for layer in &run.layers {
        let own = |row: &&ChannelRow| row.index == layer.index && row.level == layer.level;
        let sum = |value: fn(&ChannelRow) -> Option<u64>| {
            run.channels.iter().filter(own).map(value).fold(None, |sum: Option<u64>, value| {
                match (sum, value) {
                    (Some(sum), Some(value)) => Some(sum + value),
                    (sum, value) => sum.or(value),
                }
            })
        };
        assert_eq!(sum(|row| Some(row.dots)), Some(layer.dots));
        assert_eq!(sum(|row| row.adds), layer.adds);
        assert_eq!(sum(|row| row.events), layer.events);
        assert_eq!(sum(|row| row.persistent), layer.persistent);
        assert_eq!(sum(|row| row.wrong), layer.wrong);
        assert_eq!(sum(|row| row.output_mismatch), layer.output_mismatch);
    }
}

#[test]
fn events_of_all_layers_in_one_order() {
    let ran = common::run(StatsLevel::Full, "bits: 13, overflow: saturate");
    let rows = event_rows(&ran.program, &ran.layers);
    insta::assert_snapshot!(short(&csv(&rows)), @r"
    sample,index,layer,level,out_n,out_h,out_w,out_c,run,k,held,addend,exact,direction,cycle,pe_row,pe_col,stored,name
    0,0,CONV,column,0,0,0,0,0,2,6000,3000,9000,high,106,0,0,-7384,conv2d_1
    0,0,CONV,acc,0,0,0,0,0,3,0,-4384,-4384,low,107,0,0,-4096,conv2d_1
    0,0,CONV,column,0,0,0,0,1,6,-6000,-3000,-9000,low,110,0,0,7384,conv2d_1
    ");
    let place = |row: &EventRow| (row.sample, row.cycle, row.out_n, row.out_h, row.out_w, row.out_c);
    assert!(rows.is_sorted_by_key(place));
}

#[test]
fn summary_and_sweep() {
    let points: Vec<PointRecord> = common::sweep(StatsLevel::Full).into_iter().take(2).collect();
    let summary: Vec<SummaryRow> = points.iter().map(|point| point.summary.clone()).collect();
    insta::assert_snapshot!(csv(&summary), @r"
    bits,overflow,level,mode,samples,top1_agreement,accuracy_exact,accuracy,output_mismatch,output_sqnr_db,events,persistent,transient,wrong,cycles,model,hw,not_swept,trapped,accuracy_low,accuracy_high,accuracy_exact_low,accuracy_exact_high,agreement_low,agreement_high,lost,gained,mcnemar_p,mcnemar_test,task,output_mse,mse_exact,mse,auc_exact,auc,agreeing,right_exact,right,host_cycles,overlapped_cycles,cross_entropy_exact,cross_entropy
    11,wrap,acc,propagated,2,0.5,1.0,0.5,3,inf,3,1,1,1,238,tiny.tflite,two-levels,,,0.094531,0.905469,0.34238,1.0,0.094531,0.905469,1,0,1.0,exact,classify,0.0,,,,,1,2,1,0,238,,
    12,wrap,acc,propagated,2,0.5,1.0,0.5,3,inf,2,0,1,0,238,tiny.tflite,two-levels,,,0.094531,0.905469,0.34238,1.0,0.094531,0.905469,1,0,1.0,exact,classify,0.0,,,,,1,2,1,0,238,,
    ");
    let sweep = csv(&sweep_rows(&points));
    let layers = csv(&points[1].layers);
    let expected = format!("tiny.tflite,two-levels,12,wrap,acc,{}", layers.lines().nth(2).unwrap());
    assert_eq!(sweep.lines().nth(6).unwrap(), expected);
    assert_eq!(points[0].summary.point().level, "acc");
}

#[test]
fn uncounted_sums_are_blank() {
    let summary = common::point_record(12, "wrap", StatsLevel::None).summary;
    assert_eq!(
        (summary.events, summary.persistent, summary.transient, summary.wrong),
        (None, None, None, None)
    );
    assert!(summary.cycles.is_some());
    let summary = common::point_record(12, "wrap", StatsLevel::Events).summary;
    assert!(summary.persistent.is_some());
    assert_eq!(summary.transient, None);
}

#[test]
fn records_survive_json() {
    for stats in [StatsLevel::None, StatsLevel::Events, StatsLevel::Full] {
        let mut point = common::point_record(12, "wrap", stats);
        let last = point.layers.last_mut().unwrap();
        (last.min_prefix, last.max_prefix) = (Some(i128::MIN), Some(i128::MAX));
        last.sum_abs_err = Some(u128::MAX);
        // JSON has no infinite ratio; whether a code differs determines which one it was.
        for (mismatch, sqnr) in [(0, f64::INFINITY), (3, f64::NEG_INFINITY)] {
            point.summary.output_mismatch = Some(mismatch);
            point.summary.output_sqnr_db = Some(Decibel::new(sqnr));
            let last = point.layers.last_mut().unwrap();
            (last.output_mismatch, last.sqnr_db) = (Some(mismatch), Some(Decibel::new(sqnr)));
            let json = serde_json::to_string(&point).unwrap();
            assert!(json.contains("\"output_sqnr_db\":null") && !json.contains("inf"));
            assert_eq!(serde_json::from_str::<PointRecord>(&json).unwrap(), point);
        }
        // An undefined ratio stays undefined.
        point.summary.mode = "isolated".into();
        point.summary.output_sqnr_db = None;
        let json = serde_json::to_string(&point).unwrap();
        assert_eq!(serde_json::from_str::<PointRecord>(&json).unwrap(), point);
    }
}

#[test]
fn tables_for_terminals() {
    let run = common::run_record(StatsLevel::Full);
    let [all, narrow] = [true, false].map(|all| View { width: 72, all });
    insta::assert_snapshot!(layers_text(&run.layers, &all).unwrap(), @r"
    index  layer            op               level   bits  overflow  dots  events  persistent  transient  wrong  output_mismatch  sqnr_db  exact_required_final  exact_required_prefix
        0  conv2d_1         conv2d           column    14  wrap         4       2           1          0                                                     15                     15
        0  conv2d_1         conv2d           acc       13  saturate     4       1           0          1      1                1  10.6296                    12                     15
        1  fully_connected  fully_connected  column    14  wrap         6       0           0          0                                                      8                      8
        1  fully_connected  fully_connected  acc       13  saturate     6       0           0          0      0                3  13.3244                     8                      8
    ");
    insta::assert_snapshot!(layers_text(&run.layers, &narrow).unwrap(), @"
    layer     level   bits  overflow  events  wrong  bits required
    conv2d_1  column    14  wrap           2                    15
    conv2d_1  acc       13  saturate       1      1             15
    In every row: index 0, op conv2d, dots 4, touched 25 %
    4 more columns: --all
    1 layer without overflow; fully_connected has the least room: 8 of 13 bits required
    ");
    let mut calm = run.layers.clone();
    calm.iter_mut().for_each(|row| row.events = Some(0));
    insta::assert_snapshot!(layers_text(&calm, &narrow).unwrap(), @"
    2 layers without overflow; conv2d_1 has the least room: 15 of 13 bits required
    ");
    let sweep = common::sweep(StatsLevel::Full);
    insta::assert_snapshot!(summary_text(&sweep, &narrow).unwrap(), @"
    bits  overflow  accuracy  events  persistent  transient  wrong
      11  wrap          50 %       3           1          1      1
      12  wrap          50 %       2           0          1      0
      13  wrap          50 %       2           0          1      0
      14  wrap          50 %       0           0          1      0
      15  wrap          50 %       0           0          0      0
      11  saturate      50 %       3           1          1      2
      12  saturate      50 %       2           0          1      1
      13  saturate      50 %       1           0          1      1
      14  saturate      50 %       0           0          1      0
      15  saturate      50 %       0           0          0      0
    In every point: 95 % 9.45 to 90.55 %, exact network 100 %, agreement 50 %, codes differ 3, SQNR inf, p 1, cycles 238
    ");
    let size = common::size_record();
    insta::assert_snapshot!(size_text(&size.layers, &size.levels, &narrow).unwrap(), @"
    layer                     level  range  data_prefix  budget  recommended
    model/activ..2d_1/Conv2D  inner     19           17      15           19
    model/activ..2d_1/Conv2D  outer     19           17      15           19
    StatefulPar..ionedCall:0  inner     16           14      12           16
    StatefulPar..ionedCall:0  outer     16           14      12           16
    In every row: op conv2d, channels 1
    12 more columns: --all
    ");
    insta::assert_snapshot!(summary_text(&sweep, &all).unwrap(), @r"
    bits  overflow  top1_agreement  accuracy_exact  accuracy  output_mismatch  output_sqnr_db  events  persistent  transient  wrong  cycles  accuracy_low  accuracy_high  mcnemar_p
      11  wrap                 0.5             1.0       0.5                3             inf       3           1          1      1     238      0.094531       0.905469        1.0
      12  wrap                 0.5             1.0       0.5                3             inf       2           0          1      0     238      0.094531       0.905469        1.0
      13  wrap                 0.5             1.0       0.5                3             inf       2           0          1      0     238      0.094531       0.905469        1.0
      14  wrap                 0.5             1.0       0.5                3             inf       0           0          1      0     238      0.094531       0.905469        1.0
      15  wrap                 0.5             1.0       0.5                3             inf       0           0          0      0     238      0.094531       0.905469        1.0
      11  saturate             0.5             1.0       0.5                3             inf       3           1          1      2     238      0.094531       0.905469        1.0
      12  saturate             0.5             1.0       0.5                3             inf       2           0          1      1     238      0.094531       0.905469        1.0
      13  saturate             0.5             1.0       0.5                3             inf       1           0          1      1     238      0.094531       0.905469        1.0
      14  saturate             0.5             1.0       0.5                3             inf       0           0          1      0     238      0.094531       0.905469        1.0
      15  saturate             0.5             1.0       0.5                3             inf       0           0          0      0     238      0.094531       0.905469        1.0
    ");
}

/// `scripts/renew` renews the page.
#[test]
fn the_dictionary_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/columns.md");
    let text = columns_text();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/reference/columns.md is stale: run scripts/renew");
}

/// Every column has a meaning, and every column that a terminal's table selects exists.
#[test]
fn columns_have_meanings() {
    fn check<R: Row>() {
        for column in R::COLUMNS {
            assert!(!column.meaning.trim().is_empty(), "{}: {}", R::FILE, column.name);
        }
    }
    check::<LayerRow>();
    check::<ChannelRow>();
    check::<SummaryRow>();
    check::<SweepRow>();
    check::<EventRow>();
    check::<SizeRow>();
}

/// The numerator and denominator of a share are columns of the same table.
#[test]
fn shares_have_their_counts() {
    let mut shares = 0;
    for table in TABLES {
        for column in table.columns {
            let Some(counts) = column.share_of else { continue };
            for count in counts {
                let found = table.columns.iter().find(|column| column.name == count);
                assert_eq!(found.map(|column| column.stored), Some(Stored::Int64), "{}: {count}", table.file);
            }
            shares += 1;
        }
    }
    assert!(shares > 10, "{shares}");
}
